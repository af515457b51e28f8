import test from 'ava'
import { redacted } from '../../../platform/settings.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { kafkaSecurityOf } from '../../../server/settings/kafka.ts'
import { configFaults } from '../../servers/config-faults.ts'

const far = { SERVICE_KAFKA_BROKERS: 'localhost:9092,kafka-1.example.org:9092' }
const sasl = {
  SERVICE_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
  SERVICE_KAFKA_SASL_USERNAME: 'forge',
  SERVICE_KAFKA_SASL_PASSWORD: 'not for the log',
}

test('a broker on another machine is refused without TLS, unless plaintext is allowed', t => {
  const [fault, ...more] = configFaults(far)
  t.regex(fault ?? '', /^SERVICE_KAFKA_BROKERS=kafka-1\.example\.org:9092: not on this machine/)
  t.regex(fault ?? '', /SERVICE_KAFKA_TLS=on, or SERVICE_KAFKA_PLAINTEXT=allow/)
  t.deepEqual(more, [])
  t.is(configFaults({ ...far, ...sasl }).length, 1, 'a password does not hide what follows it')
  t.deepEqual(configFaults({ ...far, SERVICE_KAFKA_TLS: 'on' }), [])
  t.deepEqual(configFaults({ ...far, SERVICE_KAFKA_PLAINTEXT: 'allow' }), [])
  t.deepEqual(configFaults({ SERVICE_KAFKA_BROKERS: '127.0.0.1:1,127.1.2.3:1,localhost:1' }), [])
  t.is(configFaults({ SERVICE_KAFKA_BROKERS: '127.evil.example:9092' }).length, 1)
})

test('settings that would have no effect, or lack another one, are faults', t => {
  const on = { SERVICE_KAFKA_TLS: 'on' }
  t.deepEqual(configFaults({ SERVICE_KAFKA_TLS_CA_FILE: '/ca.pem' }), [
    'SERVICE_KAFKA_TLS_CA_FILE: has no effect without SERVICE_KAFKA_TLS=on',
  ])
  t.deepEqual(configFaults({ ...on, SERVICE_KAFKA_TLS_KEY_FILE: '/key.pem' }), [
    'SERVICE_KAFKA_TLS_KEY_FILE: needs the other of certificate and key, too',
  ])
  t.regex(configFaults({ SERVICE_KAFKA_SASL_USERNAME: 'forge' })[0] ?? '', /has no effect without/)
  t.regex(configFaults({ ...sasl, SERVICE_KAFKA_SASL_USERNAME: '' })[0] ?? '', /USERNAME: missing/)
  t.is(configFaults({ ...sasl, SERVICE_KAFKA_SASL_PASSWORD: '' }).length, 1)
  t.is(configFaults({ ...sasl, SERVICE_KAFKA_SASL_PASSWORD_FILE: '/password' }).length, 1)
  t.regex(
    configFaults({ SERVICE_KAFKA_SASL_MECHANISM: 'GSSAPI' })[0] ?? '',
    /one of none, PLAIN, SCRAM/,
  )
})

test('the settings become the protection of connections, and no password is shown', t => {
  const tls = { SERVICE_KAFKA_TLS: 'on', SERVICE_KAFKA_TLS_CA_FILE: '/ca.pem' }
  const config = readConfig({ ...far, ...sasl, ...tls })
  t.deepEqual(kafkaSecurityOf(config), {
    tls: { caFile: '/ca.pem', certFile: null, keyFile: null },
    sasl: {
      mechanism: 'SCRAM-SHA-512',
      username: 'forge',
      password: { text: 'not for the log' },
    },
    isPlaintextAllowed: false,
  })
  t.notRegex(JSON.stringify(redacted(config)), /not for the log/)
  const { SERVICE_KAFKA_SASL_PASSWORD: _, ...rest } = sasl
  const fromFile = readConfig({ ...rest, SERVICE_KAFKA_SASL_PASSWORD_FILE: '/password' })
  t.deepEqual(kafkaSecurityOf(fromFile).sasl?.password, { file: '/password' })
})
