import type { Person } from '../../auth/caller.ts'
import { type Passwords, refuseBadPassword } from '../../auth/passwords.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { answerPosition, type Deps, stampOf } from '../deps.ts'
import { handle } from '../handle.ts'
import { revokeSessions } from '../revoke-sessions.ts'

export type ChangePassword = {
  caller: Person
  requestId: string
  ctx: { set: (name: string, value: string) => void }
  body: { current: string; new: string }
}

/** Sets a person's own password and ends their other sessions. */
export async function changePassword(
  deps: Deps,
  passwords: Passwords,
  request: ChangePassword,
): Promise<void> {
  const { caller, body } = request
  const { username } = caller
  const known = await readHash(deps, username)
  if (known === null)
    throw new Refusal('conflict', `${username} has no password here; sign in as before`)
  if (!(await passwords.matches(body.current, known)))
    throw new Refusal('unauthenticated', 'The current password is wrong', {
      code: 'password.wrong',
    })
  if (body.new === body.current)
    throw new Refusal('invalid', 'The new password is the current one; choose another')
  await refuseBadPassword(body.new, username)
  const hash = await passwords.hash(body.new)
  const stamp = stampOf(request, deps.now())
  const { position } = await handle(
    deps.store,
    {
      ...userAt(username),
      stamp,
      reserve: async tx => {
        const { rowCount } = await tx.query(
          'update auth.person set password_hash = $3 where username = $1 and password_hash = $2',
          [username, known, hash],
        )
        if (rowCount === 0)
          throw new Refusal('conflict', 'The password was changed at the same time; sign in anew')
        await revokeSessions(tx, username, { now: stamp.now, except: caller.sid })
      },
    },
    (): UserEvent[] => [{ type: 'user.password_changed', data: { username } }],
  )
  deps.accessChanged(username)
  answerPosition(deps, request, position)
}

async function readHash({ pool }: Deps, username: string): Promise<string | null> {
  const { rows } = await pool.query<{ password_hash: string | null }>(
    'select password_hash from auth.person where username = $1',
    [username],
  )
  return rows[0]?.password_hash ?? null
}
