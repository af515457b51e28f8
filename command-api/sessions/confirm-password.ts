import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import type { SignInPorts } from './password-guard.ts'
import { readHash } from './stored-password.ts'

type Confirming = { caller: Person; password: string; ctx: Context }

/**
 * Refuses anybody who does not know the password of the session's person; wrong ones are counted for the session. Returns the
 * stored hash, which must still be the same when the caller acts on it.
 */
export async function confirmPassword(
  deps: Deps,
  { passwords, passwordGuard }: SignInPorts,
  { caller, password, ctx }: Confirming,
): Promise<string> {
  const { username, sid } = caller
  const known = await readHash(deps.pool, username)
  if (known === null)
    throw new Refusal('conflict', `${username} has no password here; use the identity provider`)
  const isRight = await passwordGuard.isRight({ username, sid, ctx }, async () =>
    (await passwords.matches(password, known)) ? 'right' : 'wrong',
  )
  if (!isRight)
    throw new Refusal('unauthenticated', 'The current password is wrong', {
      code: 'password.wrong',
    })
  return known
}
