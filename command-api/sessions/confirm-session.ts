import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { confirmPassword } from './confirm-password.ts'
import type { SignInPorts } from './password-guard.ts'
import { type CheckSecondFactor, type SecondFactor, withoutFactor } from './second-factor.ts'
import { changedMeanwhile, isStillValid } from './stored-password.ts'

export type ConfirmOwnSession = HttpAsked & {
  caller: Person
  body: { password: string; code?: string; passkey?: unknown }
  ctx: Context
}

type Ports = SignInPorts & { checkSecondFactor: CheckSecondFactor }

/** Makes the sign-in of the caller's session a recent one, if they know the password and have the second factor. */
export async function confirmSession(
  deps: Deps,
  ports: Ports,
  request: ConfirmOwnSession,
): Promise<void> {
  const { username } = request.caller
  const { hash, factor } = await confirmFactors(deps, ports, request)
  await markConfirmed(
    deps,
    request,
    async tx => {
      if (!(await isStillValid(tx, { username, hash }))) throw changedMeanwhile()
      await factor.use(tx)
    },
    factor.events,
  )
}

/** A wrong second factor counts like a wrong password. */
async function confirmFactors(
  deps: Deps,
  { checkSecondFactor, ...ports }: Ports,
  request: ConfirmOwnSession,
): Promise<{ hash: string; factor: SecondFactor & { is: 'right' } }> {
  const {
    caller,
    body: { password, ...given },
    ctx,
  } = request
  const hash = await confirmPassword(deps, ports, { caller, password, ctx })
  const { username, sid } = caller
  let factor: SecondFactor | undefined
  await ports.passwordGuard.isRight({ username, sid, ctx }, async () => {
    factor = await checkSecondFactor(request, { username, sid, ...given })
    return factor.is === 'wrong' || factor.is === 'locked' ? 'wrong' : 'right'
  })
  if (factor?.is !== 'right') throw withoutFactor(factor ?? { is: 'wrong' }, given)
  return { hash, factor }
}

/** Records that the person of a session has just proved who they are. */
export async function markConfirmed(
  deps: Deps,
  request: HttpAsked & { caller: Person },
  alongside: (tx: Transaction) => Promise<void>,
  besides: readonly UserEvent[] = [],
): Promise<void> {
  const { username, sid } = request.caller
  await commit(deps, request, userAt(username), {
    decide: (): UserEvent[] => [
      { type: 'user.session_confirmed', data: { username, sid } },
      ...besides,
    ],
    async alongside(tx, { now }) {
      await alongside(tx)
      await tx.query('update auth.session set authenticated_at = $2 where sid = $1', [sid, now])
    },
  })
}
