import type { Context } from 'koa'
import { sha256 } from '../../auth/opaque-token.ts'
import { Refusal, type RefusalExtras } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { answerPoll, type PollAnswer, type PolledCode, slowIntervalS } from './poll.ts'

type Role = 'admin' | 'operator'

/** Opens a session: the access token is returned, and the refresh token set as a cookie, which programs may keep. */
export type OpenSession = (signIn: {
  username: string
  role: Role
  requestId: string
  ctx: Context
  /** When the approver proved who they are. */
  authenticatedAt: Date
  /** Runs in the transaction that opens the session; refuses by throwing. */
  alongside: (tx: Transaction) => Promise<void>
}) => Promise<{ token: string; expires_in: number }>

export type DeviceToken = {
  token: string
  expires_in: number
  user: { username: string; role: Role }
}

/** Returns the token of an approved code once; refuses every other poll in the terms of RFC 8628, 3.5. */
export async function fetchToken(
  deps: Deps,
  openSession: OpenSession,
  { device_code, requestId, ctx }: { device_code: string; requestId: string; ctx: Context },
): Promise<DeviceToken> {
  const hash = sha256(device_code)
  const { answer, approver } = await poll(deps, hash)
  if (answer.is !== 'approved' || approver === null) throw refusalOf(answer)
  const { authenticatedAt, ...user } = approver
  const { token, expires_in } = await openSession({
    ...user,
    authenticatedAt,
    requestId,
    ctx,
    alongside: tx => consume(tx, hash),
  })
  return { token, expires_in, user }
}

type CodeRow = {
  state: PolledCode['state']
  expires_at: Date
  polled_at: Date | null
  interval_s: number
  holds: boolean
  username: string | null
  role: Role | null
  authenticated_at: Date | null
}
type Approver = { username: string; role: Role; authenticatedAt: Date }
type Polled = { answer: PollAnswer; approver: Approver | null }

/** Locks the row of the code, so that concurrent polls cannot both pass the interval check. */
function poll(deps: Deps, hash: Buffer): Promise<Polled> {
  const now = deps.now()
  return deps.store.transaction(async tx => {
    const { rows } = await tx.query<CodeRow>({
      name: 'poll_device_code',
      text: `select d.state, d.expires_at, d.polled_at, d.interval_s, p.username, p.role,
                    s.authenticated_at, coalesce(s.revoked_at is null and not p.disabled, false) as holds
               from auth.device_code d
               left join auth.session s using (sid) left join auth.person p using (username)
              where d.device_sha256 = $1 for update of d`,
      values: [hash],
    })
    const [row] = rows
    const answer = answerPoll(row ? toPolledCode(row) : null, now.getTime())
    if (answer.is === 'authorization_pending')
      await tx.query('update auth.device_code set polled_at = $2 where device_sha256 = $1', [
        hash,
        now,
      ])
    if (answer.is === 'slow_down')
      await tx.query('update auth.device_code set interval_s = $2 where device_sha256 = $1', [
        hash,
        slowIntervalS,
      ])
    return { answer, approver: row ? approverIn(row) : null }
  })
}

const approverIn = ({ username, role, authenticated_at }: CodeRow): Approver | null =>
  username && role && authenticated_at
    ? { username, role, authenticatedAt: authenticated_at }
    : null

const toPolledCode = (row: CodeRow): PolledCode => ({
  state: row.state,
  expiresMs: row.expires_at.getTime(),
  polledMs: row.polled_at?.getTime() ?? null,
  intervalS: row.interval_s,
  approverHolds: row.holds,
})

/** Only one of several concurrent polls gets the token; checks and locks the approving session again. */
async function consume(tx: Transaction, hash: Buffer): Promise<void> {
  const { rows } = await tx.query<{ state: string; holds: boolean }>(
    `select d.state, s.revoked_at is null and not p.disabled as holds
       from auth.device_code d join auth.session s using (sid) join auth.person p using (username)
      where d.device_sha256 = $1 for no key update of d, p for share of s`,
    [hash],
  )
  if (rows[0]?.state !== 'approved') throw refusalOf({ is: 'expired_token' })
  if (!rows[0].holds) throw refusalOf({ is: 'access_denied' })
  await tx.query(`update auth.device_code set state = 'consumed' where device_sha256 = $1`, [hash])
}

/** The reason is in both `error` (RFC 6749) and `detail` (specification). */
function refusalOf(answer: PollAnswer): Refusal {
  const extras = (fields: Record<string, unknown> = {}): RefusalExtras => ({
    code: `device.${answer.is}`,
    fields: { error: answer.is, ...fields },
  })
  if (answer.is !== 'slow_down') return new Refusal('invalid', answer.is, extras())
  return new Refusal('rate_limited', answer.is, {
    ...extras({ interval: slowIntervalS }),
    retryAfterSeconds: answer.waitS,
  })
}
