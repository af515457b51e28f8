import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { refuseBadPassword } from '../../auth/passwords.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import { confirmPassword } from './confirm-password.ts'
import type { SignInPorts } from './password-guard.ts'
import { replaceHash } from './stored-password.ts'

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
      await replaceHash(tx, { username, hash: known }, hash)
      await revokeSessions(tx, username, { now, except: sid })
    },
  })
}
