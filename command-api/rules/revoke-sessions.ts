import type { Transaction } from '../commit/event-store.ts'

export type Revoking = {
  now: Date
  /** The session to keep, for instance the session that changed the password. */
  except?: string
}

/**
 * Ends every session of a person with its access and refresh tokens. The event that goes with it must be one that
 * `announcements.ts` declares as a change of access, so that all processes know at once, and not within half a second.
 */
export async function revokeSessions(
  tx: Transaction,
  username: string,
  { now, except }: Revoking,
): Promise<void> {
  await tx.query(
    `update auth.session set revoked_at = $2
      where username = $1 and revoked_at is null and sid is distinct from $3`,
    [username, now, except ?? null],
  )
}
