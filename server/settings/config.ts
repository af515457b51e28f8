import { type KeysConfig, keysFaults, keysSettings } from '../../auth/keys-settings.ts'
import { incompleteOidc, type OidcConfig, oidcSettings } from '../../auth/oidc-settings.ts'
import { type SecondFactorPolicy, secondFactorPolicies } from '../../auth/second-factor.ts'
import {
  BadSetting,
  type Environment,
  list,
  type Reader,
  readSettings,
  type Settings,
  text,
  whole,
  word,
} from '../../platform/settings.ts'
import { ownSegmentIn } from '../../schemas/own-paths.ts'
import { type BackupConfig, backupFaults, backupSettings } from './backup.ts'
import { type HubConfig, hubSettings } from './hub.ts'
import { type IsolationConfig, isolationSettings } from './isolation.ts'
import { type KafkaConfig, kafkaFaults, kafkaSettings } from './kafka.ts'
import { type OutgoingConfig, outgoingSettings } from './outgoing.ts'
import { type S3Config, s3Faults, s3Settings } from './s3.ts'
import { type SlurmConfig, slurmFaults, slurmSettings } from './slurm.ts'

/** The roles of a process; by default one process has all (`SERVICE_ROLES`). */
export const roles = [
  'command-api',
  'relay',
  'projector',
  'query-api',
  'executor',
  'gateway',
] as const
export type Role = (typeof roles)[number]

/** Whether a process only serves models, which works without the log. */
export const isGatewayAlone = ({ roles: has }: Pick<Config, 'roles'>): boolean =>
  has.every(role => role === 'gateway')

export type Config = OidcConfig &
  KeysConfig &
  KafkaConfig &
  IsolationConfig &
  SlurmConfig &
  S3Config &
  BackupConfig &
  HubConfig &
  OutgoingConfig & {
    port: number
    host: string
    /** Absolute path of the folder with all files of this installation. */
    dataDir: string
    roles: readonly Role[]
    /** Null: the embedded PostgreSQL in `dataDir`. */
    databaseUrl: string | null
    topicPrefix: string
    redisUrl: string | null
    /** The address that people and runs use, without a trailing slash; null: `http://localhost:<port>`. */
    baseUrl: string | null
    /** Hosts, with or without a port, of engines that everybody may deploy; admins may deploy any. */
    engineHosts: readonly string[]
    jwtHours: number
    /** Hours without use after which a session ends; 0: never. */
    sessionIdleHours: number
    initAdminUsername: string
    initAdminPassword: string | null
    /** Who must have a second factor besides their password. */
    secondFactor: SecondFactorPolicy
    localGpus: number
    /** Days for which facts stay on the event log. */
    logRetentionDays: number
    /** How many days the files of an ended run stay on the executor's machine; 0: forever. */
    runDirDays: number
    /** Days that captured requests are kept. */
    captureDays: number
    /** Days after which hardware samples are reduced to five-minute means; 0: never. */
    hardwareRawDays: number
    /** Days after which requests to deployments are reduced to daily sums; 0: never. */
    trafficDays: number
    /** Maximum size of a topic of facts on the event log; 0: no limit. */
    logMaxGb: number
    /** How much disk space a local run may occupy unless its job says so, in GB; 0: no limit. */
    localDiskGb: number
    sharedDataGb: number
    /** Disk space, in MiB, given back when the disk is full, so that the server can still stop and delete; 0: none. */
    diskReserveMb: number
    defaultVisibility: 'private' | 'internal'
    /** Maximum size of an uploaded file, and of an expanded archive. */
    maxUploadMb: number
    /** Maximum total size of one run's uploaded artifacts, in GiB. */
    runArtifactsGb: number
    metricsToken: string | null
    trustedProxyHops: number
    /** Where people report vulnerabilities: a mailto:, https: or tel: address. */
    securityContact: string | null
    logLevel: string
  }

const roleList: Reader<readonly Role[]> = (value, name) => {
  const asked = list(value, name)
  const unknown = asked.filter(role => !roles.some(known => known === role))
  if (unknown.length > 0)
    throw new BadSetting(
      `${name}: unknown role ${unknown.join(', ')}; known are ${roles.join(', ')}`,
    )
  return asked.length === 0 ? roles : roles.filter(role => asked.includes(role))
}

const contact: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '') return null
  if (/^(mailto:|https:\/\/|tel:)[\x21-\x7e]+$/.test(value)) return value
  throw new BadSetting(`${name}: expected an address that begins with mailto:, https:// or tel:`)
}

/** An address, perhaps with a path under which a proxy serves Forge; without a slash at its end. */
const address: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '') return null
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new BadSetting(`${name}: expected an address such as https://forge.example.com`)
  const path = url.pathname.replace(/\/$/, '')
  if (url.href.replace(/\/$/, '') !== url.origin + path || !/^(\/[\w.~-]+)*$/.test(path))
    throw new BadSetting(
      `${name}: expected a host and perhaps a path of letters, digits and . _ ~ -, such as ${url.origin}/forge`,
    )
  // Requests and pasted addresses below it would look like ones without it.
  const own = ownSegmentIn(path)
  if (own !== null)
    throw new BadSetting(`${name}: /${own} is a path of Forge's own; choose another`)
  return url.origin + path
}

const settings: Settings<Config> = {
  port: ['SERVICE_PORT', whole(8080, 0, 65_535)],
  host: ['SERVICE_HOST', text('127.0.0.1')],
  dataDir: ['SERVICE_DATA_DIR', text('.forge')],
  roles: ['SERVICE_ROLES', roleList],
  databaseUrl: ['SERVICE_DATABASE_URL', text(null)],
  ...kafkaSettings,
  topicPrefix: ['SERVICE_TOPIC_PREFIX', text('forge')],
  redisUrl: ['SERVICE_REDIS_URL', text(null)],
  baseUrl: ['SERVICE_BASE_URL', address],
  engineHosts: ['SERVICE_ENGINE_HOSTS', list],
  jwtHours: ['SERVICE_JWT_HOURS', whole(8, 1, 720)],
  sessionIdleHours: ['SERVICE_SESSION_IDLE_HOURS', whole(336, 0, 720)],
  ...keysSettings,
  initAdminUsername: ['SERVICE_INIT_ADMIN_USERNAME', text('admin')],
  initAdminPassword: ['SERVICE_INIT_ADMIN_PASSWORD', text(null)],
  ...oidcSettings,
  secondFactor: ['SERVICE_SECOND_FACTOR', word('optional', ...secondFactorPolicies)],
  localDiskGb: ['SERVICE_LOCAL_DISK_GB', whole(0, 0, 1_000_000)],
  sharedDataGb: ['SERVICE_SHARED_DATA_GB', whole(200, 0, 1_000_000)],
  localGpus: ['SERVICE_LOCAL_GPUS', whole(4, 0, 1024)],
  ...isolationSettings,
  ...slurmSettings,
  ...s3Settings,
  ...backupSettings,
  ...hubSettings,
  ...outgoingSettings,
  logRetentionDays: ['SERVICE_LOG_RETENTION_DAYS', whole(30, 1, 3650)],
  runDirDays: ['SERVICE_RUN_DIR_DAYS', whole(7, 0, 3650)],
  captureDays: ['SERVICE_CAPTURE_DAYS', whole(7, 1, 3650)],
  hardwareRawDays: ['SERVICE_HARDWARE_RAW_DAYS', whole(14, 0, 3650)],
  trafficDays: ['SERVICE_TRAFFIC_DAYS', whole(90, 0, 3650)],
  maxUploadMb: ['SERVICE_MAX_UPLOAD_MB', whole(1024, 1, 1_000_000)],
  runArtifactsGb: ['SERVICE_RUN_ARTIFACTS_GB', whole(100, 1, 1_000_000)],
  logMaxGb: ['SERVICE_LOG_MAX_GB', whole(0, 0, 1_000_000)],
  diskReserveMb: ['SERVICE_DISK_RESERVE_MB', whole(256, 0, 1_000_000)],
  defaultVisibility: ['SERVICE_DEFAULT_VISIBILITY', word('private', 'private', 'internal')],
  metricsToken: ['SERVICE_METRICS_TOKEN', text(null)],
  trustedProxyHops: ['SERVICE_TRUSTED_PROXY_HOPS', whole(0, 0, 16)],
  securityContact: ['SERVICE_SECURITY_CONTACT', contact],
  logLevel: ['SERVICE_LOG_LEVEL', word('info', 'trace', 'debug', 'info', 'warn', 'error')],
}

/** Variables for training processes; they share the prefix but are not settings of the server. */
const reportingVariables = [
  'SERVICE_ENABLED',
  'SERVICE_ENDPOINT',
  'SERVICE_RUN_ID',
  'SERVICE_TOKEN',
]

/** Reads the environment once. Throws `BadConfig` with every fault, including unknown `SERVICE_*` names. */
export const readConfig = (env: Environment): Config =>
  readSettings(env, {
    settings,
    prefix: 'SERVICE_',
    others: reportingVariables,
    faultsTogether: together => [
      ...incompleteOidc(together),
      ...keysFaults(together),
      ...kafkaFaults(together),
      ...slurmFaults(together),
      ...s3Faults(together),
      ...backupFaults(together),
    ],
  })
