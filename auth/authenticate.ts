import type { Context } from 'koa'
import type { Pool } from 'pg'
import { refuseForeignOrigin } from '../platform/http/origin.ts'
import { Refusal } from '../platform/refusal.ts'
import { remembered } from '../platform/remembered.ts'
import { verifyAccessToken } from './access-token.ts'
import type { Authenticate, Credential, Permitted, Person, RunCaller } from './caller.ts'
import type { KeyRing } from './keys.ts'
import { opaqueTokenId, sameHash, sha256 } from './opaque-token.ts'
import { refuseOldSignIn } from './recent-sign-in.ts'
import { refreshTokenOf } from './refresh-cookie.ts'
import {
  changePasswordFirst,
  type FactorState,
  mustSetUp,
  type SecondFactorPolicy,
  setUpFirst,
} from './second-factor.ts'
import { isIdle, noteUse, usedAt } from './session-use.ts'

/** What identifies people by their access tokens. */
export type PersonAuthentication = {
  pool: Pool
  keys: KeyRing
  now: () => Date
  /** Hours without use after which a session ends; 0: never. */
  idleHours: number
  /** The public address: pages of other origins must not use our cookies. */
  baseUrl: () => string
  /** Who may do nothing before they have set up a second factor. */
  secondFactor: SecondFactorPolicy
  /** Calls back with the username when a person's sessions or role change, in any process. */
  onAccessChanged: (listener: (username: string) => void) => void
}

export type Authentication = PersonAuthentication & {
  /** Display name of the identity provider; null if people sign in with passwords. */
  providerName: string | null
  metricsToken: string | null
}

type SessionRow = FactorState & {
  username: string
  via: string
  live: boolean
  used_at: Date
  has_generated_password: boolean
}
type IngestRow = { run_id: string; secret_sha256: Buffer; expires_at: Date; ended_at: Date | null }

/**
 * How long a credential is cached without asking Postgres, in milliseconds. Access must end within a second even
 * without a signal from the process that ended it; half of that second is slack for a busy machine.
 */
const sessionTtlMs = 500
export const ingestTtlMs = 1000
/** While Postgres is down, an ingest token seen within the last minute remains valid (ARCHITECTURE, "When a part is down"). */
const ingestStaleMs = 60_000

const unauthenticated = (detail: string) => new Refusal('unauthenticated', detail)

/**
 * Identifies the caller by the kind of credential that a route accepts; all other kinds are refused with 401, and an old sign-in
 * with 403 where a route needs a recent one.
 */
export function authenticator(auth: Authentication): Authenticate {
  const person = byAccessToken(auth)

  const admin = async (ctx: Context, given?: Permitted): Promise<Person> => {
    const caller = await person(ctx, given)
    if (caller.role !== 'admin') throw new Refusal('forbidden', 'Only admins may do this')
    return caller
  }

  const by: Record<Credential, (ctx: Context, given?: Permitted) => ReturnType<Authenticate>> = {
    none: anybody,
    person,
    admin,
    ingest: byIngestToken(auth),
    async refresh(ctx) {
      refuseForeignChange(ctx, auth)
      return anybody()
    },
    async session(ctx, given) {
      refuseForeignChange(ctx, auth)
      return person(ctx, given).catch(error => {
        if (isUnauthenticated(error) && refreshTokenOf({ ctx, baseUrl: auth.baseUrl() }) !== null)
          return anybody()
        throw error
      })
    },
    async metrics(ctx) {
      const token = bearer(ctx)
      const { metricsToken } = auth
      if (metricsToken !== null && token !== null && sameHash(sha256(token), sha256(metricsToken)))
        return anybody()
      await admin(ctx)
      return anybody()
    },
  }
  return async (ctx, demand) => {
    const caller = await by[demand.credential](ctx, demand)
    if (demand.recentSignIn && caller.kind === 'person') await refuseOldSignIn(auth, caller)
    return caller
  }
}

const anybody = async () => ({ kind: 'anybody' as const })

function refuseForeignChange(ctx: Context, { baseUrl }: Authentication): void {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') refuseForeignOrigin(ctx, baseUrl())
}

const isUnauthenticated = (error: unknown) =>
  error instanceof Refusal && error.code === 'unauthenticated'

function byAccessToken(auth: Authentication): (ctx: Context, given?: Permitted) => Promise<Person> {
  const person = personBy(auth)
  return (ctx, given) => person(bearer(ctx), given)
}

type FindPerson = (token: string | null, given?: Permitted) => Promise<Person>

/**
 * The person that an access token belongs to, whose session is in use then; throws `unauthenticated`, and `forbidden` if they have to
 * replace a generated password or set up a second factor before anything else.
 */
export function personBy(auth: PersonAuthentication): FindPerson {
  const sessions = sessionLookup(auth.pool)
  auth.onAccessChanged(username => sessions.forget(session => session?.username === username))
  return async (token, { whileLimited } = {}) => {
    if (token === null)
      throw unauthenticated('An access token is needed: Authorization: Bearer <token>')
    const now = auth.now()
    const claims = await verifyAccessToken(auth.keys, token, now)
    if (!claims)
      throw unauthenticated(
        'The access token is malformed, has expired or was not issued here; sign in again',
      )
    const session = await sessions(claims.sid)
    if (!session?.live || session.username !== claims.sub || session.role !== claims.role)
      throw unauthenticated('The access token was revoked; sign in again')
    if (isIdle(session, now, auth.idleHours))
      throw unauthenticated(
        `The session ended after ${auth.idleHours} hours without use; sign in again`,
      )
    refuseLimited(auth, session, whileLimited)
    noteUse(auth.pool, claims.sid, session, now)
    return {
      kind: 'person',
      username: claims.sub,
      role: session.role,
      sid: claims.sid,
      via: session.via,
      issuedAt: new Date(claims.iat * 1000),
      expiresAt: new Date(claims.exp * 1000),
    }
  }
}

/** Who must replace a generated password may do nothing else; nor may, after that, who must set up a second factor. */
function refuseLimited(
  { secondFactor, baseUrl }: PersonAuthentication,
  session: SessionRow,
  permitted: Permitted['whileLimited'],
): void {
  if (permitted === 'either') return
  if (session.has_generated_password) {
    if (permitted !== 'password') throw changePasswordFirst(baseUrl())
  } else if (permitted !== 'factor' && mustSetUp(secondFactor, session)) throw setUpFirst(baseUrl())
}

function byIngestToken(auth: Authentication): (ctx: Context) => Promise<RunCaller> {
  const ingestTokens = ingestTokenLookup(auth.pool)
  return async ctx => {
    const token = ingestTokenOf(ctx)
    const tokenId = opaqueTokenId('fit', token)
    const row = tokenId === null ? null : await ingestTokens(tokenId)
    if (tokenId === null || !row || !sameHash(row.secret_sha256, sha256(token)))
      throw unauthenticated('The ingest token is malformed or unknown')
    if (row.ended_at !== null || row.expires_at <= auth.now())
      throw unauthenticated('The ingest token is no longer valid')
    return { kind: 'run', runId: row.run_id, tokenId }
  }
}

function bearer(ctx: Context): string | null {
  const match = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))
  return match?.[1] ?? null
}

function ingestTokenOf(ctx: Context): string {
  const fromBearer = bearer(ctx)
  const fromHeader = ctx.get('x-service-token') || null
  if (fromBearer !== null && fromHeader !== null && fromBearer !== fromHeader)
    throw unauthenticated('X-Service-Token and Authorization carry different tokens; send only one')
  const token = fromHeader ?? fromBearer
  if (token === null)
    throw unauthenticated(
      "The run's ingest token is needed: X-Service-Token or Authorization: Bearer",
    )
  return token
}

const sessionLookup = (pool: Pool) =>
  remembered({ ttlMs: sessionTtlMs, staleMs: 0 }, (sids: string[]) => findSessions(pool, sids))

const ingestTokenLookup = (pool: Pool) =>
  remembered({ ttlMs: ingestTtlMs, staleMs: ingestStaleMs }, (ids: string[]) =>
    findIngestTokens(pool, ids),
  )

async function findSessions(pool: Pool, sids: string[]): Promise<Map<string, SessionRow>> {
  const { rows } = await pool.query<SessionRow & { sid: string }>({
    name: 'sessions_by_sid',
    text: `select s.sid, username, p.role, s.via, s.revoked_at is null and not p.disabled as live,
                  ${usedAt} as used_at, p.password_hash is not null as has_password,
                  p.password_generated_at is not null as has_generated_password,
                  auth.has_second_factor(username) as has_second_factor
             from auth.session s join auth.person p using (username) where s.sid = any($1)`,
    values: [sids],
  })
  return new Map(rows.map(row => [row.sid, row]))
}

async function findIngestTokens(pool: Pool, tokenIds: string[]): Promise<Map<string, IngestRow>> {
  const { rows } = await pool.query<IngestRow & { token_id: string }>({
    name: 'ingest_tokens_by_id',
    text: `select token_id, run_id, secret_sha256, expires_at, ended_at
             from auth.ingest_token where token_id = any($1)`,
    values: [tokenIds],
  })
  return new Map(rows.map(row => [row.token_id, row]))
}
