import type { Context } from 'koa'
import type { Pool } from 'pg'
import type { Credential, Person, RunCaller } from '../http/route.ts'
import type { Authenticate } from '../http/shell.ts'
import { Refusal } from '../refusal.ts'
import { remembered } from '../remembered.ts'
import { verifyAccessToken } from './access-token.ts'
import type { KeyRing } from './keys.ts'
import { opaqueTokenId, sameHash, sha256 } from './opaque-token.ts'

export type Authentication = {
  pool: Pool
  keys: KeyRing
  now: () => Date
  metricsToken: string | null
}

type SessionRow = { role: Person['role']; via: string; live: boolean }
type IngestRow = { run_id: string; secret_sha256: Buffer; expires_at: Date; ended_at: Date | null }

/** How long a found credential is believed without asking Postgres again, in milliseconds. */
const sessionTtlMs = 1000
const ingestTtlMs = 1000
/** Where Postgres is away, an ingest token seen within the last minute still holds (design: "When a part is down"). */
const ingestStaleMs = 60_000

const unauthenticated = (detail: string) => new Refusal('unauthenticated', detail)

/** Tells who calls by the one credential a route takes; every other kind of token is 401 there. */
export function authenticator(auth: Authentication): Authenticate {
  const sessions = sessionLookup(auth.pool)
  const ingestTokens = ingestTokenLookup(auth.pool)

  const person = async (ctx: Context): Promise<Person> => {
    const token = bearer(ctx)
    if (token === null)
      throw unauthenticated('An access token is needed: Authorization: Bearer <token>')
    const claims = verifyAccessToken(auth.keys, token, auth.now())
    if (!claims)
      throw unauthenticated('The access token is malformed, expired or not ours; sign in again')
    const session = await sessions(claims.sid)
    if (!session?.live || session.role !== claims.role)
      throw unauthenticated('The access token was revoked; sign in again')
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

  const run = async (ctx: Context): Promise<RunCaller> => {
    const token = ingestTokenOf(ctx)
    const tokenId = opaqueTokenId('fit', token)
    const row = tokenId === null ? null : await ingestTokens(tokenId)
    if (tokenId === null || !row || !sameHash(row.secret_sha256, sha256(token)))
      throw unauthenticated('The ingest token is malformed or unknown')
    if (row.ended_at !== null || row.expires_at <= auth.now())
      throw unauthenticated('The ingest token has ended')
    return { kind: 'run', runId: row.run_id, tokenId }
  }

  const scraper = async (ctx: Context) => {
    const token = bearer(ctx)
    if (
      auth.metricsToken !== null &&
      token !== null &&
      sameHash(sha256(token), sha256(auth.metricsToken))
    )
      return { kind: 'anybody' as const }
    await admin(ctx)
    return { kind: 'anybody' as const }
  }

  const admin = async (ctx: Context): Promise<Person> => {
    const caller = await person(ctx)
    if (caller.role !== 'admin') throw new Refusal('forbidden', 'This needs the role admin')
    return caller
  }

  const anybody = async () => ({ kind: 'anybody' as const })
  const by: Record<Credential, (ctx: Context) => ReturnType<Authenticate>> = {
    none: anybody,
    refresh: anybody,
    session: ctx => (bearer(ctx) === null && ctx.get('cookie') !== '' ? anybody() : person(ctx)),
    person,
    admin,
    ingest: run,
    metrics: scraper,
  }
  return (ctx, credential) => by[credential](ctx)
}

function bearer(ctx: Context): string | null {
  const match = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))
  return match?.[1] ?? null
}

function ingestTokenOf(ctx: Context): string {
  const fromBearer = bearer(ctx)
  const fromHeader = ctx.get('x-service-token') || null
  if (fromBearer !== null && fromHeader !== null && fromBearer !== fromHeader)
    throw unauthenticated('X-Service-Token and Authorization carry different tokens; send one')
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
    text: `select s.sid, p.role, s.via, s.revoked_at is null and not p.disabled as live
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
