import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { EngineHeaders } from '../auth/engine-header.ts'
import type { JudgeTokens } from '../auth/judge-token.ts'
import type { KeyRing } from '../auth/keys.ts'
import type { OidcSettings } from '../auth/oidc-settings.ts'
import type { SealingKeys } from '../auth/sealing-keys.ts'
import type { SecondFactorPolicy } from '../auth/second-factor.ts'
import type { QueueBook } from '../events/calculations/queue-picture.ts'
import type { Observe } from '../events/diagnosis-facts.ts'
import type { ReadRound } from '../events/judged-samples.ts'
import type { Topics } from '../events/topics.ts'
import type { AddressKey } from '../platform/http/signed-address.ts'
import type { DirectoryStore } from '../platform/objects/directory.ts'
import type { ObjectStore } from '../platform/objects/port.ts'
import type { Clock } from '../platform/time.ts'
import type { FactAppends } from './commit/append-fact.ts'
import type { EventStore } from './commit/event-store.ts'
import type { KeyLimit } from './metrics/key-limit.ts'
import type { Reports } from './rules/admit-report.ts'
import type { Ledger } from './rules/ledger.ts'
import type { Hub } from './rules/model-hub.ts'
import type { PluginCalls } from './rules/plugin-calls.ts'
import type { ShortNumbers } from './rules/short-numbers.ts'
import type { VolumeFolders } from './rules/volumes.ts'

/** Settings used by commands. */
export type CommandConfig = {
  /** Lifetime of an access token. */
  jwtHours: number
  /** Hours without use after which a session ends; 0: never. */
  sessionIdleHours: number
  initAdminUsername: string
  /** Null: a password is generated. */
  initAdminPassword: string | null
  /** Null if people sign in with passwords. */
  oidc: OidcSettings | null
  /** Who must have a second factor; optional with an identity provider. */
  secondFactor: SecondFactorPolicy
  /** Default visibility of projects. */
  defaultVisibility: 'private' | 'internal'
  /** Maximum size of an uploaded file, and of an expanded archive. */
  maxUploadMb: number
  /** Maximum total size of one run's uploaded artifacts, in GiB. */
  runArtifactsGb: number
  /** Hosts, with or without a port, of engines that everybody may deploy; admins may deploy any. */
  engineHosts: readonly string[]
  /** The address of slurmrestd; null: no Slurm. */
  slurmUrl: string | null
  /** How many days files used by jobs are kept; 0: forever. */
  runDirDays: number
  /** How many days captured requests are kept. */
  captureDays: number
}

/** Dependencies of all routes of command-api; built once by server/. */
export type Deps = FactAppends & {
  store: EventStore
  pool: Pool
  now: Clock
  /** `newId('run')` → `run_01J…`. */
  newId: (prefix: string) => string
  config: CommandConfig
  keys: KeyRing
  /** Seals the secrets of jobs and authenticators for the database. */
  sealing: SealingKeys
  logger: Logger
  reports: Reports
  metricKeys: KeyLimit
  shortNumbers: ShortNumbers
  queue: QueueBook
  /** Packages and recipes that people send, which programs on this machine open. */
  uploads: DirectoryStore
  /** The output of runs; may be the same store. */
  artifacts: ObjectStore
  /** Where volumes are; if several hosts serve an installation, folders that all of them mount. */
  volumes: VolumeFolders
  /** Signs the addresses to which files are sent. */
  uploadKey: AddressKey
  /** Reads a run's reports for its diagnosis. */
  observe: Observe
  /** Reads the samples of a validation round, for judges. */
  readRound: ReadRound
  /** Reads the bills, for budgets and corrections. */
  ledger: Ledger
  topics: Topics
  newEventId: () => string
  /** Counts points for the scraper. */
  ingestedPoints: (count: number) => void
  /** Call after a commit that changed what gateways serve without an event; those with one are announced (`announcements.ts`). */
  servingChanged: () => void
  engineHeaders: EngineHeaders
  /** Lets Forge itself ask deployments. */
  judgeTokens: JudgeTokens
  /** Where models are imported from; null: no hub is configured. */
  hub: Hub | null
  /** Services that administrators registered, asked about jobs and promotions. */
  plugins: PluginCalls
  /** The public address of this installation, without a trailing slash. */
  baseUrl: () => string
}
