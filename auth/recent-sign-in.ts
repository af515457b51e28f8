import type { Pool } from 'pg'
import { Refusal } from '../platform/refusal.ts'
import type { Clock } from '../platform/time.ts'
import type { Person } from './caller.ts'

/** How old a recent sign-in may be, in milliseconds. */
const recentMs = 15 * 60_000

type Needed = {
  pool: Pool
  now: Clock
  /** Display name of the identity provider; null if people sign in with passwords. */
  providerName: string | null
}

/**
 * Refuses a person who last proved who they are, in this session, more than 15 minutes ago: a stolen token or an unattended
 * screen must not suffice for what does lasting harm. Asks Postgres each time, because a confirmation counts at once everywhere.
 */
export async function refuseOldSignIn(
  { pool, now, providerName }: Needed,
  { sid }: Pick<Person, 'sid'>,
): Promise<void> {
  const { rows } = await pool.query<{ authenticated_at: Date }>({
    name: 'when_authenticated',
    text: 'select authenticated_at from auth.session where sid = $1',
    values: [sid],
  })
  const authenticatedMs = rows[0]?.authenticated_at.getTime() ?? 0
  if (now().getTime() - authenticatedMs <= recentMs) return
  const remedy =
    providerName === null
      ? 'confirm your password (POST /api/auth/confirm)'
      : `sign in again with ${providerName}`
  throw new Refusal(
    'forbidden',
    `Your sign-in is older than 15 minutes; ${remedy}, then repeat this request`,
    {
      code: 'sign_in_again',
      data: { confirm_with: providerName === null ? 'password' : 'provider' },
    },
  )
}
