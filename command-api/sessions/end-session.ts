import { type UserEvent, userAt } from '../../events/users.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import type { Stamp } from '../event-store.ts'
import { handle } from '../handle.ts'

export type Ending = {
  username: string
  sid: string
  /** Why it ends. */
  as: 'user.logout' | 'user.session_revoked' | 'user.refresh_reused'
  stamp: Stamp
  /** Thrown if the session has already ended, or is not this person's. */
  otherwise: Refusal
}

/** Ends one session and its tokens in all processes; returns the position of the event. */
export async function endSession(deps: Deps, ending: Ending): Promise<string> {
  const { username, sid, as, stamp, otherwise } = ending
  const { position } = await handle(
    deps.store,
    {
      ...userAt(username),
      stamp,
      reserve: async tx => {
        const { rowCount } = await tx.query(
          `update auth.session set revoked_at = $3
            where sid = $1 and username = $2 and revoked_at is null and expires_at > $3`,
          [sid, username, stamp.now],
        )
        if (rowCount === 0) throw otherwise
      },
    },
    (): UserEvent[] => [{ type: as, data: { username, sid } }],
  )
  deps.accessChanged(username)
  return position
}
