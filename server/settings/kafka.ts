import {
  isLoopback,
  type KafkaSecurity,
  saslMechanisms,
} from '../../platform/log/kafka-security.ts'
import { type Environment, list, type Settings, text, word } from '../../platform/settings.ts'

export type KafkaConfig = {
  /** Empty: the event log is a table in Postgres. */
  kafkaBrokers: readonly string[]
  kafkaTls: 'on' | 'off'
  kafkaTlsCaFile: string | null
  kafkaTlsCertFile: string | null
  kafkaTlsKeyFile: string | null
  kafkaSaslMechanism: 'none' | (typeof saslMechanisms)[number]
  kafkaSaslUsername: string | null
  kafkaSaslPassword: string | null
  kafkaSaslPasswordFile: string | null
  kafkaPlaintext: 'refuse' | 'allow'
}

export const kafkaSettings: Settings<KafkaConfig> = {
  kafkaBrokers: ['SERVICE_KAFKA_BROKERS', list],
  kafkaTls: ['SERVICE_KAFKA_TLS', word('off', 'on', 'off')],
  kafkaTlsCaFile: ['SERVICE_KAFKA_TLS_CA_FILE', text(null)],
  kafkaTlsCertFile: ['SERVICE_KAFKA_TLS_CERT_FILE', text(null)],
  kafkaTlsKeyFile: ['SERVICE_KAFKA_TLS_KEY_FILE', text(null)],
  kafkaSaslMechanism: ['SERVICE_KAFKA_SASL_MECHANISM', word('none', 'none', ...saslMechanisms)],
  kafkaSaslUsername: ['SERVICE_KAFKA_SASL_USERNAME', text(null)],
  kafkaSaslPassword: ['SERVICE_KAFKA_SASL_PASSWORD', text(null)],
  kafkaSaslPasswordFile: ['SERVICE_KAFKA_SASL_PASSWORD_FILE', text(null)],
  kafkaPlaintext: ['SERVICE_KAFKA_PLAINTEXT', word('refuse', 'refuse', 'allow')],
}

/** One line for each fault of settings that depend on each other. */
export function kafkaFaults(env: Environment): string[] {
  const of = (key: keyof KafkaConfig) => env[kafkaSettings[key][0]] ?? ''
  const given = (...keys: (keyof KafkaConfig)[]) =>
    keys.filter(key => of(key) !== '').map(key => kafkaSettings[key][0])
  return [
    ...tlsFaults(of('kafkaTls') === 'on', given),
    ...saslFaults(!['', 'none'].includes(of('kafkaSaslMechanism')), given),
    ...plaintextFaults(env),
  ]
}

type Given = (...keys: (keyof KafkaConfig)[]) => string[]

function tlsFaults(isOn: boolean, given: Given): string[] {
  const files = given('kafkaTlsCaFile', 'kafkaTlsCertFile', 'kafkaTlsKeyFile')
  if (!isOn) return files.map(name => `${name}: has no effect without SERVICE_KAFKA_TLS=on`)
  const pair = given('kafkaTlsCertFile', 'kafkaTlsKeyFile')
  return pair.length === 1 ? [`${pair[0]}: needs the other of certificate and key, too`] : []
}

function saslFaults(isOn: boolean, given: Given): string[] {
  const passwords = given('kafkaSaslPassword', 'kafkaSaslPasswordFile')
  const names = [...given('kafkaSaslUsername'), ...passwords]
  if (!isOn)
    return names.map(
      name =>
        `${name}: has no effect without SERVICE_KAFKA_SASL_MECHANISM (${saslMechanisms.join(', ')})`,
    )
  return [
    ...(given('kafkaSaslUsername').length === 0
      ? ['SERVICE_KAFKA_SASL_USERNAME: missing, though SERVICE_KAFKA_SASL_MECHANISM is set']
      : []),
    ...(passwords.length === 1
      ? []
      : ['one of SERVICE_KAFKA_SASL_PASSWORD and SERVICE_KAFKA_SASL_PASSWORD_FILE is expected']),
  ]
}

function plaintextFaults(env: Environment): string[] {
  const off = list(env.SERVICE_KAFKA_BROKERS, '').filter(broker => !isLoopback(hostOf(broker)))
  if (env.SERVICE_KAFKA_TLS === 'on' || env.SERVICE_KAFKA_PLAINTEXT === 'allow' || off.length === 0)
    return []
  return [
    `SERVICE_KAFKA_BROKERS=${off.join(',')}: not on this machine, and without TLS everybody on the way could read and write what goes there; set SERVICE_KAFKA_TLS=on, or SERVICE_KAFKA_PLAINTEXT=allow where the network is trusted`,
  ]
}

const hostOf = (broker: string) => broker.split(':')[0] ?? ''

export function kafkaSecurityOf(config: KafkaConfig): KafkaSecurity {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username } = config
  return {
    tls:
      config.kafkaTls === 'on'
        ? {
            caFile: config.kafkaTlsCaFile,
            certFile: config.kafkaTlsCertFile,
            keyFile: config.kafkaTlsKeyFile,
          }
        : null,
    sasl:
      mechanism === 'none' || username === null
        ? null
        : { mechanism, username, password: passwordOf(config) },
    isPlaintextAllowed: config.kafkaPlaintext === 'allow',
  }
}

const passwordOf = ({ kafkaSaslPassword: text, kafkaSaslPasswordFile: file }: KafkaConfig) =>
  file === null ? { text: text ?? '' } : { file }
