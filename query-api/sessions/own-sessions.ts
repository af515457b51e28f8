import type { Pool } from 'pg'
import type { Static } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import { mustBeUsedAfter, usedAt } from '../../auth/session-use.ts'
import type { session } from '../../schemas/sessions.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { maxExactCount } from '../reading/page.ts'

type Session = Static<typeof session>
type SessionRow = {
  sid: string
  via: string
  created_at: Date
  last_used_at: Date | null
  expires_at: Date
  user_agent: string | null
}
export type SessionsAsked = {
  caller: Person
  now: Date
  /** Hours without use after which a session ends; 0: never. */
  idleHours: number
  limit: number
  offset: number
}

/** A person's live sessions: the current one first, then newest first. `counted` is capped at 10,001. */
export async function ownSessions(
  pool: Pool,
  { caller, now, idleHours, limit, offset }: SessionsAsked,
): Promise<{ sessions: Session[]; counted: number }> {
  const live = `from auth.session s where username = $1 and revoked_at is null and expires_at > $2
                  and ${usedAt} > $3`
  const of = [caller.username, now, mustBeUsedAfter(now, idleHours)]
  const { rows: counts } = await pool.query<{ counted: number }>(
    `select count(*) as counted from (select 1 ${live} limit $4) found`,
    [...of, maxExactCount + 1],
  )
  const { rows } = await pool.query<SessionRow>(
    `select sid, via, created_at, last_used_at, expires_at, user_agent ${live}
      order by sid = $4 desc, created_at desc, sid desc limit $5 offset $6`,
    [...of, caller.sid, limit, offset],
  )
  const sessions = rows.map(row => ({
    sid: row.sid,
    via: row.via,
    created_at: toTimestamp(row.created_at),
    last_used_at: row.last_used_at && toTimestamp(row.last_used_at),
    expires_at: toTimestamp(row.expires_at),
    user_agent: row.user_agent,
    current: row.sid === caller.sid,
  }))
  return { sessions, counted: counts[0]?.counted ?? 0 }
}
