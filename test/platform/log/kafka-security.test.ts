import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startBroker } from '../../../deploy/kafka/broker.ts'
import { LogUnavailable } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import { createSockets } from '../../../platform/log/kafka-link.ts'
import { type KafkaSecurity, saslMechanisms } from '../../../platform/log/kafka-security.ts'
import { makeCertificates } from '../../servers/certificates.ts'
import { patient } from '../../servers/patience.ts'
import { record, take, topicsOfTest } from './contract.ts'

const password = 'correct-horse'

test('records are written to and read from a broker that requires TLS, a certificate and a password', async t => {
  t.timeout(patient(400_000))
  const { brokers, security, folder } = await protectedBroker(t)
  const openWith = async (changed: Partial<KafkaSecurity>) => {
    const { single } = topicsOfTest()
    const options = { brokers, clientId: 'test', topics: [single] }
    const log = await openKafkaLog({ ...options, security: { ...security, ...changed } })
    t.teardown(log.close)
    return { log, topic: single.name }
  }
  const sasl = { username: 'forge', password: { text: password } }
  for (const mechanism of saslMechanisms) {
    const { log, topic } = await openWith({ sasl: { ...sasl, mechanism } })
    await log.append(topic, [record('k', mechanism)])
    t.is((await take(log, topic, 0, 0n, 1))[0]?.value.toString(), mechanism)
  }

  const refused = (changed: Partial<KafkaSecurity>, message: RegExp) =>
    t.throwsAsync(openWith(changed), { instanceOf: LogUnavailable, message })
  const wrong = { ...sasl, password: { text: 'wrong' } }
  await refused({ sasl: { ...wrong, mechanism: 'PLAIN' } }, /SASL PLAIN authentication failed/)
  await refused({ sasl: { ...wrong, mechanism: 'SCRAM-SHA-512' } }, /authentication failed/i)
  await refused({ sasl: null }, /does not respond/)
  await refused({ tls: null }, /does not respond/)
  const { tls } = security
  const other = await makeCertificates(folder, 'other')
  await refused({ tls: tls && { ...tls, caFile: other.caFile } }, /self.signed|unable to/)
  await refused({ tls: tls && { ...tls, certFile: null, keyFile: null } }, /does not respond/)
})

test('the password is read from its file at each connection, and a missing file is named', async t => {
  t.timeout(patient(400_000))
  const { brokers, security, folder } = await protectedBroker(t)
  const file = join(folder, 'password')
  const { single } = topicsOfTest()
  const sasl = { username: 'forge', mechanism: 'SCRAM-SHA-256', password: { file } } as const
  const options = { brokers, clientId: 'test', topics: [single], security: { ...security, sasl } }
  await t.throwsAsync(openKafkaLog(options), { message: /password cannot be read: ENOENT/ })
  await writeFile(file, 'wrong\n')
  await t.throwsAsync(openKafkaLog(options), { message: /authentication failed/i })
  await writeFile(file, `${password}\n`)
  const log = await openKafkaLog(options)
  t.teardown(log.close)
  t.is((await log.append(single.name, [record('k', 'x')]))[0]?.offset, 0n)
})

test('no connection leaves this machine without TLS, wherever the address comes from', t => {
  const target = { host: '192.0.2.1', port: 9092, onConnect: () => {} }
  const none = { tls: null, sasl: null }
  const refusing = createSockets({ ...none, isPlaintextAllowed: false })
  t.throws(() => refusing.open(target), { message: /^192\.0\.2\.1 is not on this machine/ })
  t.throws(() => refusing.open({ ...target, host: '127.evil.example' }), { message: /not on this/ })
  const allowing = createSockets({ ...none, isPlaintextAllowed: true })
  t.notThrows(() => allowing.open(target).on('error', () => {}))
  allowing.breakOff()
})

async function protectedBroker(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-broker-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const { serverFile, ...tls } = await makeCertificates(folder)
  const protection = { serverFile, caFile: tls.caFile, username: 'forge', password }
  const broker = await startBroker({ folder: join(folder, 'broker'), protection })
  t.teardown(() => broker.stop('SIGKILL'))
  const sasl = { mechanism: 'PLAIN', username: 'forge', password: { text: password } } as const
  const security: KafkaSecurity = { tls, sasl, isPlaintextAllowed: false }
  return { brokers: [broker.address], security, folder }
}
