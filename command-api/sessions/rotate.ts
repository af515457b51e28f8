import { createHmac, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { sha256 } from '../../auth/opaque-token.ts'
import { isIdle, type Used, usedAt } from '../../auth/session-use.ts'
import type { Transaction } from '../commit/event-store.ts'

/** How long a used token may be presented again, for clients whose response was lost, in milliseconds. */
const graceMs = 10_000

/** The session of one sign-in with its refresh tokens, of which only the newest is unused. */
export type Family = {
  sid: string
  username: string
  via: string
  /** The person's role now, not at sign-in. */
  role: 'admin' | 'operator'
  /** The end of the whole family; rotation never moves it. */
  expires_at: Date
}

type Presented = Family &
  Used & {
    live: boolean
    spent_at: Date | null
    successor_salt: Buffer | null
  }

export type RefreshState =
  | { is: 'live' | 'repeated' | 'reused'; presented: Presented }
  /** Unknown, or its family has ended, for instance for lack of use. */
  | { is: 'dead' }

/** `idleHours`: hours without use after which a session ends. */
export type At = { now: Date; idleHours: number }

/**
 * The state of a presented refresh token (RFC 9700, 4.14.2). `repeated`: used within the grace period, and its
 * successor is unused, so the first response was probably lost. `reused`: it was used more than the grace period
 * ago, or its successor was used too, so two parties may hold tokens of the family and one of them stole it.
 * Locks the family until the transaction ends.
 */
export async function refreshStateOf(
  tx: Transaction,
  token: string,
  { now, idleHours }: At,
): Promise<RefreshState> {
  const presented = await findPresented(tx, sha256(token))
  if (!presented?.live || presented.expires_at <= now || isIdle(presented, now, idleHours))
    return { is: 'dead' }
  const { spent_at, successor_salt } = presented
  if (spent_at === null) return { is: 'live', presented }
  const isLate = now.getTime() - spent_at.getTime() > graceMs
  if (isLate || successor_salt === null) return { is: 'reused', presented }
  const isPassed = await isSpent(tx, sha256(successorOf(token, successor_salt)))
  return { is: isPassed ? 'reused' : 'repeated', presented }
}

/** The live session of a refresh token, spent or not; null if none. */
export async function sessionOf(
  pool: Pool,
  token: string,
  { now, idleHours }: At,
): Promise<{ sid: string; username: string } | null> {
  const { rows } = await pool.query<{ sid: string; username: string } & Used>(
    `select sid, username, ${usedAt} as used_at from auth.refresh_token join auth.session s using (sid)
      where secret_sha256 = $1 and s.revoked_at is null`,
    [sha256(token)],
  )
  const [session] = rows
  return session && !isIdle(session, now, idleHours) ? session : null
}

/** Returns the successor of a live or repeated token: always the same for one token. */
export async function successor(
  tx: Transaction,
  token: string,
  state: Exclude<RefreshState, { is: 'dead' }>,
  now: Date,
): Promise<string> {
  const { presented } = state
  if (presented.successor_salt !== null) return successorOf(token, presented.successor_salt)
  const salt = randomBytes(32)
  const next = successorOf(token, salt)
  await tx.query(
    'update auth.refresh_token set used_at = $2, successor_salt = $3 where secret_sha256 = $1',
    [sha256(token), now, salt],
  )
  await tx.query(
    'insert into auth.refresh_token (secret_sha256, sid, created_at, expires_at) values ($1, $2, $3, $4)',
    [sha256(next), presented.sid, now, presented.expires_at],
  )
  await tx.query('update auth.session set last_used_at = $2 where sid = $1', [presented.sid, now])
  return next
}

/**
 * A lost response must be repeatable, yet no usable token may be stored. So the successor is derived from the used
 * token, which only its holder has, and a salt, which only the database has. Neither suffices alone, and unlike a
 * server key there is nothing to protect, share between processes or rotate.
 */
const successorOf = (token: string, salt: Buffer): string =>
  createHmac('sha256', salt).update(token).digest('base64url')

async function findPresented(tx: Transaction, hash: Buffer): Promise<Presented | undefined> {
  // Lock first, then read: a query that waits for a lock may still see the old rows.
  await tx.query(
    `select 1 from auth.session
      where sid = (select sid from auth.refresh_token where secret_sha256 = $1) for update`,
    [hash],
  )
  const { rows } = await tx.query<Presented>(
    `select s.sid, username, s.via, p.role, s.expires_at, t.used_at as spent_at, t.successor_salt,
            ${usedAt} as used_at, s.revoked_at is null and not p.disabled as live
       from auth.refresh_token t join auth.session s using (sid) join auth.person p using (username)
      where t.secret_sha256 = $1`,
    [hash],
  )
  return rows[0]
}

async function isSpent(tx: Transaction, hash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select 1 from auth.refresh_token where secret_sha256 = $1 and used_at is not null',
    [hash],
  )
  return rowCount !== 0
}
