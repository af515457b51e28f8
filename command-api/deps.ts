import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Caller } from '../auth/caller.ts'
import type { KeyRing } from '../auth/keys.ts'
import type { OidcSettings } from '../auth/oidc-settings.ts'
import type { Actor } from '../events/event.ts'
import type { Topics } from '../events/topics.ts'
import type { Clock } from '../platform/time.ts'
import type { Reports } from './admit-report.ts'
import type { FactLane } from './append-fact.ts'
import type { EventStore, Stamp } from './event-store.ts'
import type { RecentWrites } from './recent-writes.ts'

/** Settings used by commands. */
export type CommandConfig = {
  /** Lifetime of an access token. */
  jwtHours: number
  initAdminUsername: string
  /** Null: a password is generated. */
  initAdminPassword: string | null
  /** Null if people sign in with passwords. */
  oidc: OidcSettings | null
  /** Default visibility of projects. */
  defaultVisibility: 'private' | 'internal'
}

/** Dependencies of all routes of command-api; built once by server/. */
export type Deps = {
  store: EventStore
  pool: Pool
  now: Clock
  /** `newId('run')` → `run_01J…`. */
  newId: (prefix: string) => string
  config: CommandConfig
  keys: KeyRing
  logger: Logger
  recentWrites: RecentWrites
  reports: Reports
  facts: FactLane
  topics: Topics
  newEventId: () => string
  /** Counts points for the scraper. */
  ingestedPoints: (count: number) => void
  /** Call after a commit that ended sessions of this person or changed their role. */
  accessChanged: (username: string) => void
  /** The public address of this installation, without a trailing slash. */
  baseUrl: () => string
}

type Asked = {
  caller: Caller
  requestId: string
  ctx: { set: (name: string, value: string) => void }
}

/** The envelope of the events caused by this request. */
export const stampOf = (request: Pick<Asked, 'caller' | 'requestId'>, now: Date): Stamp => ({
  actor: actorOf(request.caller),
  requestId: request.requestId,
  now,
})

function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case 'person':
      return { type: 'user', id: caller.username, via: caller.via }
    case 'run':
      return { type: 'run', id: caller.runId, via: 'ingest_token' }
    case 'anybody':
      return { type: 'system', id: 'anybody', via: 'none' }
  }
}

/** Sets `Forge-Position` to the caller's write, and remembers it for their next reads. */
export function answerPosition(deps: Deps, request: Asked, position: string): void {
  request.ctx.set('Forge-Position', position)
  if (request.caller.kind === 'person')
    deps.recentWrites.remember(request.caller.username, position)
}
