import type { Transaction } from './event-store.ts'

export type Revoking = {
  now: Date
  /** The session that goes on, for instance the one that changed the password. */
  except?: string
}

/**
 * Ends every session of a person, their access and refresh tokens with it. After the commit
 * `deps.accessChanged` makes it known to all processes at once; without it they find out within half a second.
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
