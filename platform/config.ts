/** What a process may do; all of them by default, in one process (`SERVICE_ROLES`). */
export const roles = ['command-api', 'relay', 'projector', 'query-api', 'executor'] as const
export type Role = (typeof roles)[number]

export type Config = {
  port: number
  host: string
  /** Absolute path of the folder that holds everything this installation keeps on disk. */
  dataDir: string
  roles: readonly Role[]
  /** Null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null
  /** Empty: the event log is a table in Postgres. */
  kafkaBrokers: readonly string[]
  topicPrefix: string
  redisUrl: string | null
  /** The address people and runs use, without a trailing slash; null: `http://localhost:<port>`. */
  baseUrl: string | null
  jwtHours: number
  initAdminUsername: string
  initAdminPassword: string | null
  /** Issuer, client id and client secret are set all three, or none. */
  oidcIssuer: string | null
  oidcClientId: string | null
  oidcClientSecret: string | null
  oidcName: string | null
  oidcAdminGroup: string | null
  oidcGroupsClaim: string
  localGpus: number
  defaultVisibility: 'private' | 'internal'
  maxUploadMb: number
  metricsToken: string | null
  trustedProxyHops: number
  logLevel: string
}

type Reader<T> = (text: string | undefined, name: string) => T

class BadSetting extends Error {}

const text =
  <D extends string | null>(fallback: D): Reader<string | D> =>
  value =>
    value === undefined || value === '' ? fallback : value

const whole =
  (fallback: number, min: number, max: number): Reader<number> =>
  (value, name) => {
    if (value === undefined || value === '') return fallback
    const number = Number(value)
    if (!Number.isInteger(number) || number < min || number > max)
      throw new BadSetting(`${name}=${value}: a whole number from ${min} to ${max} is expected`)
    return number
  }

const word =
  <const W extends readonly string[]>(fallback: W[number], ...words: W): Reader<W[number]> =>
  (value, name) => {
    if (value === undefined || value === '') return fallback
    if (!words.includes(value))
      throw new BadSetting(`${name}=${value}: one of ${words.join(', ')} is expected`)
    return value
  }

const issuer: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '') return null
  const url = URL.parse(value)
  const isPlain = url?.search === '' && url.hash === ''
  if (!isPlain || !isProtected(url))
    throw new BadSetting(`${name}=${value}: an https address is expected (http on loopback only)`)
  return value
}

/** Nobody can listen in between: TLS, or this machine. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' ||
  (protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))

const list: Reader<readonly string[]> = value =>
  (value ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

const roleList: Reader<readonly Role[]> = (value, name) => {
  const asked = list(value, name)
  const unknown = asked.filter(role => !roles.some(known => known === role))
  if (unknown.length > 0)
    throw new BadSetting(
      `${name}: unknown role ${unknown.join(', ')}; known are ${roles.join(', ')}`,
    )
  return asked.length === 0 ? roles : roles.filter(role => asked.includes(role))
}

const settings: { [K in keyof Config]: [name: string, read: Reader<Config[K]>] } = {
  port: ['SERVICE_PORT', whole(8080, 0, 65_535)],
  host: ['SERVICE_HOST', text('127.0.0.1')],
  dataDir: ['SERVICE_DATA_DIR', text('.forge')],
  roles: ['SERVICE_ROLES', roleList],
  databaseUrl: ['SERVICE_DATABASE_URL', text(null)],
  kafkaBrokers: ['SERVICE_KAFKA_BROKERS', list],
  topicPrefix: ['SERVICE_TOPIC_PREFIX', text('forge')],
  redisUrl: ['SERVICE_REDIS_URL', text(null)],
  baseUrl: ['SERVICE_BASE_URL', text(null)],
  jwtHours: ['SERVICE_JWT_HOURS', whole(8, 1, 720)],
  initAdminUsername: ['SERVICE_INIT_ADMIN_USERNAME', text('admin')],
  initAdminPassword: ['SERVICE_INIT_ADMIN_PASSWORD', text(null)],
  oidcIssuer: ['SERVICE_OIDC_ISSUER', issuer],
  oidcClientId: ['SERVICE_OIDC_CLIENT_ID', text(null)],
  oidcClientSecret: ['SERVICE_OIDC_CLIENT_SECRET', text(null)],
  oidcName: ['SERVICE_OIDC_NAME', text(null)],
  oidcAdminGroup: ['SERVICE_OIDC_ADMIN_GROUP', text(null)],
  oidcGroupsClaim: ['SERVICE_OIDC_GROUPS_CLAIM', text('groups')],
  localGpus: ['SERVICE_LOCAL_GPUS', whole(4, 0, 1024)],
  defaultVisibility: ['SERVICE_DEFAULT_VISIBILITY', word('private', 'private', 'internal')],
  maxUploadMb: ['SERVICE_MAX_UPLOAD_MB', whole(1024, 1, 1_048_576)],
  metricsToken: ['SERVICE_METRICS_TOKEN', text(null)],
  trustedProxyHops: ['SERVICE_TRUSTED_PROXY_HOPS', whole(0, 0, 16)],
  logLevel: ['SERVICE_LOG_LEVEL', word('info', 'trace', 'debug', 'info', 'warn', 'error')],
}

/** Set in every training process, so not settings of the server though they begin alike. */
const reportingVariables = [
  'SERVICE_ENABLED',
  'SERVICE_ENDPOINT',
  'SERVICE_RUN_ID',
  'SERVICE_TOKEN',
]
const secret = /password|token|secret/i

/** The environment does not make a configuration; `faults` holds all that is wrong with it, a line each. */
export class BadConfig extends Error {
  readonly faults: string[]
  constructor(faults: string[]) {
    super(`The configuration is not usable:\n${faults.map(fault => `  - ${fault}`).join('\n')}`)
    this.name = 'BadConfig'
    this.faults = faults
  }
}

/** Reads the environment once. Throws `BadConfig` naming every fault, an unknown `SERVICE_*` among them. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = []
  const entries = Object.entries(settings).map(([key, [name, read]]) => {
    try {
      return [key, (read as Reader<unknown>)(env[name], name)]
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error
      faults.push(error.message)
      return [key, null]
    }
  })
  const known = new Set([...Object.values(settings).map(([name]) => name), ...reportingVariables])
  for (const name of Object.keys(env))
    if (name.startsWith('SERVICE_') && !known.has(name)) faults.push(`${name}: no such setting`)
  faults.push(...incompleteOidc(env))
  if (faults.length > 0) throw new BadConfig(faults)
  return Object.fromEntries(entries) as Config
}

function incompleteOidc(env: Record<string, string | undefined>): string[] {
  const of = (...keys: (keyof Config)[]) => keys.map(key => settings[key][0])
  const needed = of('oidcIssuer', 'oidcClientId', 'oidcClientSecret')
  const all = [...needed, ...of('oidcName', 'oidcAdminGroup', 'oidcGroupsClaim')]
  const isSet = (name: string) => env[name] !== undefined && env[name] !== ''
  const given = all.filter(isSet)
  if (given.length === 0) return []
  return needed
    .filter(name => !isSet(name))
    .map(name => `${name}: missing, though ${given.join(', ')} is set`)
}

/** The identity provider with which people sign in instead of a password. */
export type OidcSettings = {
  issuer: string
  clientId: string
  clientSecret: string
  /** As people know it. */
  name: string
  /** Its members are admins, everybody else is not; null: roles are given here. */
  adminGroup: string | null
  groupsClaim: string
}

/** Null where people sign in with passwords. */
export function oidcOf(config: Config): OidcSettings | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config
  if (issuer === null || clientId === null || clientSecret === null) return null
  const name = config.oidcName ?? new URL(issuer).host
  const { oidcAdminGroup: adminGroup, oidcGroupsClaim: groupsClaim } = config
  return { issuer, clientId, clientSecret, name, adminGroup, groupsClaim }
}

/** The configuration as it may be shown: secrets become `[set]`, passwords in addresses go. */
export function redacted(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      if (secret.test(key)) return [key, value === null ? null : '[set]']
      if (typeof value === 'string' && /^[a-z]+:\/\//.test(value))
        return [key, withoutPassword(value)]
      return [key, value]
    }),
  )
}

function withoutPassword(address: string): string {
  const url = new URL(address)
  if (url.password !== '') url.password = 'redacted'
  return url.toString()
}
