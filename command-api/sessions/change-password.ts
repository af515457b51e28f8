import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { refuseBadPassword } from '../../auth/passwords.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HttpAsked } from '../asked.ts'
import { commit } from '../commit.ts'
import type { Deps } from '../deps.ts'
import { revokeSessions } from '../revoke-sessions.ts'
import type { SignInPorts } from './password-guard.ts'

export type ChangePassword = HttpAsked & {
  caller: Person
  body: { current: string; new: string }
  ctx: Context
}

/** Sets a person's own password and ends their other sessions. */
export async function changePassword(
  deps: Deps,
  ports: SignInPorts,
  request: ChangePassword,
): Promise<void> {
  const { caller, body, ctx } = request
  const { username, sid } = caller
  const known = await confirmPassword(deps, ports, { caller, password: body.current, ctx })
  if (body.new === body.current)
    throw new Refusal('invalid', 'The new password is the same as the current one; choose another')
  await refuseBadPassword(body.new, username)
  const hash = await ports.passwords.hash(body.new)
  await commit(deps, request, userAt(username), {
    decide: (): UserEvent[] => [{ type: 'user.password_changed', data: { username } }],
    async alongside(tx, { now }) {
      const { rowCount } = await tx.query(
        'update auth.person set password_hash = $3 where username = $1 and password_hash = $2',
        [username, known, hash],
      )
      if (rowCount === 0)
        throw new Refusal(
          'conflict',
          'Another request changed the password at the same time; sign in again',
        )
      await revokeSessions(tx, username, { now, except: sid })
    },
  })
}

/** Refuses unless it is the caller's current password; returns its hash. */
export async function confirmPassword(
  deps: Deps,
  { passwords, passwordGuard }: SignInPorts,
  { caller, password, ctx }: { caller: Person; password: string; ctx: Context },
): Promise<string> {
  const { username, sid } = caller
  const known = await readHash(deps, username)
  if (known === null)
    throw new Refusal(
      'conflict',
      `${username} has no password here; change it at the identity provider`,
    )
  const isRight = await passwordGuard.isRight({ username, sid, ctx }, async () =>
    (await passwords.matches(password, known)) ? 'right' : 'wrong',
  )
  if (!isRight)
    throw new Refusal('unauthenticated', 'The current password is wrong', {
      code: 'password.wrong',
    })
  return known
}

async function readHash({ pool }: Deps, username: string): Promise<string | null> {
  const { rows } = await pool.query<{ password_hash: string | null }>(
    'select password_hash from auth.person where username = $1',
    [username],
  )
  return rows[0]?.password_hash ?? null
}
