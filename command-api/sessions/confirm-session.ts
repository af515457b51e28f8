import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { confirmPassword } from './confirm-password.ts'
import type { SignInPorts } from './password-guard.ts'
import { changedMeanwhile, isStillValid } from './stored-password.ts'

export type ConfirmOwnSession = HttpAsked & {
  caller: Person
  body: { password: string }
  ctx: Context
}

/** Makes the sign-in of the caller's session a recent one, if they know the password. */
export async function confirmSession(
  deps: Deps,
  ports: SignInPorts,
  request: ConfirmOwnSession,
): Promise<void> {
  const { caller, body, ctx } = request
  const { username, sid } = caller
  const hash = await confirmPassword(deps, ports, { caller, password: body.password, ctx })
  await commit(deps, request, userAt(username), {
    decide: (): UserEvent[] => [{ type: 'user.session_confirmed', data: { username, sid } }],
    async alongside(tx, { now }) {
      if (!(await isStillValid(tx, { username, hash }))) throw changedMeanwhile()
      await tx.query('update auth.session set authenticated_at = $2 where sid = $1', [sid, now])
    },
  })
}
