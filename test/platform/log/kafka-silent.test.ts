import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../../platform/free-port.ts'
import { LogUnavailable } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import { readKafka } from '../../../platform/log/kafka-read.ts'
import { onLoopbackOnly } from '../../../platform/log/kafka-security.ts'
import { linkTo } from '../../servers/link.ts'
import { patient } from '../../servers/patience.ts'
import { until, untilSettled } from '../../servers/until.ts'
import { record, take, topicsOfTest } from './contract.ts'
import { ownBroker } from './own-broker.ts'

test('an append is refused in time though the broker falls silent at the last moment; everything continues when it is back', async t => {
  t.timeout(patient(400_000))
  const port = await freePort()
  const link = await linkTo(t, `tcp://127.0.0.1:${port}`)
  const { host, port: advertisedPort } = new URL(link.url)
  await ownBroker(t, { port, advertisedPort: Number(advertisedPort) })
  const { single } = topicsOfTest()
  const log = await openKafkaLog({ brokers: [host], clientId: 'test', topics: [single] })
  t.teardown(log.close)
  await log.append(single.name, [record('k', 'first')])
  const waiting = take(log, single.name, 0, 1n, 1)

  link.cut()
  const since = performance.now()
  // A timer of this process, so that a busy machine delays it like the append's; the client notices silence after 30 s.
  const silence = AbortSignal.timeout(25_000)
  const refused = t.throwsAsync(log.append(single.name, [record('k', 'away')]), {
    instanceOf: LogUnavailable,
  })
  // Its time runs out between two attempts, the second of which would meet the silence.
  await until('its time runs out', 15_000, () => performance.now() - since > 9_000, 1)
  link.mend()
  link.freeze()
  await refused
  t.false(silence.aborted, 'it was not the silence that ended it')
  await t.throwsAsync(log.end(single.name), { instanceOf: LogUnavailable })

  link.mend()
  await log.append(single.name, [record('k', 'back')])
  const [next] = await untilSettled('the reader continues', 10_000, waiting)
  t.is(next?.value.toString(), 'back')
})

test('opening the log fails for a broker that never responds', async t => {
  t.timeout(patient(400_000))
  const { single } = topicsOfTest()
  const { options } = await beforeKafka1(t)
  const opening = openKafkaLog({ ...options, topics: [single] })
  await t.throwsAsync(untilSettled('the log is given up', 60_000, opening), {
    instanceOf: LogUnavailable,
    message: /127\.0\.0\.1:\d+ does not respond: no response within 30 s/,
  })
})

test('a reader abandons a broker that never responds, and retries', async t => {
  t.timeout(patient(400_000))
  const { options, passwords } = await beforeKafka1(t)
  const stop = new AbortController()
  const reader = readKafka(options, 'topic', 0, 0n, { maxBytes: 1_000, signal: stop.signal })
  const reading = reader.next()
  await until('it has tried again', 60_000, () => passwords() > 1)
  stop.abort()
  t.true((await reading).done)
})

/** Responses of Kafka 0.10: it lists its requests (metadata, handshake, this one), and takes passwords by PLAIN. */
const responses = new Map([
  [18, '0000 00000003 0003 0000 0000 0011 0000 0001 0012 0000 0001 00000000'],
  [17, '0000 00000001 0005 504c41494e'],
])

/** Acts as a broker from before Kafka 1.0 up to the password, whose check kafkajs awaits without a limit. */
async function beforeKafka1(t: ExecutionContext) {
  const sockets = new Set<Socket>()
  let passwords = 0
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', request => {
      const response = responses.get(request.readInt16BE(4))
      if (response === undefined) passwords++
      else socket.write(responseTo(request, response))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const sasl = { mechanism: 'PLAIN', username: 'forge', password: { text: 'secret' } } as const
  return {
    options: {
      brokers: [`127.0.0.1:${(server.address() as AddressInfo).port}`],
      clientId: 'test',
      security: { ...onLoopbackOnly, sasl },
    },
    /** How many passwords it received. */
    passwords: () => passwords,
  }
}

/** With its length and the request's number in front. */
function responseTo(request: Buffer, hex: string): Buffer {
  const body = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + body.length)
  return Buffer.concat([length, request.subarray(8, 12), body])
}
