import type { Pool } from 'pg'

/** When a session was last used, to within `noteEveryMs`. */
export type Used = { used_at: Date }

/** SQL: `used_at` of the session `s`. */
export const usedAt = 'coalesce(s.last_used_at, s.created_at)'

/** At what time a session must have been used to be live at `now`. `idleHours` 0: sessions never end for lack of use. */
export const mustBeUsedAfter = (now: Date, idleHours: number): Date =>
  new Date(idleHours === 0 ? 0 : now.getTime() - idleHours * 3_600_000)

export const isIdle = ({ used_at }: Used, now: Date, idleHours: number): boolean =>
  used_at <= mustBeUsedAfter(now, idleHours)

/** A session in use costs one write in this time, in milliseconds. */
const noteEveryMs = 5 * 60_000

/** Records that a session is in use, without making its request wait. `session` is what the process remembers of it. */
export function noteUse(pool: Pool, sid: string, session: Used, now: Date): void {
  const before = new Date(now.getTime() - noteEveryMs)
  if (session.used_at >= before) return
  // Other requests of this process see it at once and write nothing. If the write fails, one of them repeats it after the
  // session is looked up again.
  session.used_at = now
  void pool
    .query({
      name: 'note_use_of_session',
      text: `update auth.session s set last_used_at = $2 where sid = $1 and ${usedAt} < $3`,
      values: [sid, now, before],
    })
    .catch(() => {})
}
