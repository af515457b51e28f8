import { type UserEvent, userAt } from '../../events/users.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'

export type Ending = {
  username: string
  sid: string
  /** Why it ends. */
  as: 'user.logout' | 'user.session_revoked' | 'user.refresh_reused'
  /** Thrown if the session has already ended, or is not this person's. */
  otherwise: Refusal
}

/** Ends one session and its tokens in all processes. */
export async function endSession(deps: Deps, asked: Asked, ending: Ending): Promise<void> {
  const { username, sid, as, otherwise } = ending
  await commit(deps, asked, userAt(username), {
    decide: (): UserEvent[] => [{ type: as, data: { username, sid } }],
    async alongside(tx, { now }) {
      const { rowCount } = await tx.query(
        `update auth.session set revoked_at = $3
          where sid = $1 and username = $2 and revoked_at is null and expires_at > $3`,
        [sid, username, now],
      )
      if (rowCount === 0) throw otherwise
    },
  })
}
