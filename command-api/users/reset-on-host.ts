import { madeUpPassword, type Passwords } from '../../auth/passwords.ts'
import { userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import { forgetPasskeys } from '../rules/forget-passkeys.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import { changeUser } from './decide.ts'

/** The actor of a reset, who has no account. */
export const hostCause = {
  actor: { type: 'system', id: 'host', via: 'reset-password' },
  requestId: 'reset-password',
} as const

/**
 * Gives a person a generated password and ends their sessions, on request of a person with access to the database:
 * the way back in if no administrator can sign in. Returns the password.
 */
export async function resetOnHost(
  deps: CommitDeps,
  passwords: Passwords,
  username: string,
): Promise<string> {
  const password = madeUpPassword()
  const hash = await passwords.hash(password)
  await commit(deps, hostCause, userAt(username), {
    decide: user =>
      changeUser(user, {
        username,
        role: undefined,
        disabled: undefined,
        resetsPassword: true,
        profile: [],
      }),
    async alongside(tx, { now }) {
      await setPassword(tx, { username, hash, now })
      await forgetPasskeys(tx, username)
      await revokeSessions(tx, username, { now })
    },
  })
  return password
}

type Setting = { username: string; hash: string; now: Date }

async function setPassword(tx: Transaction, { username, hash, now }: Setting): Promise<void> {
  const { rows } = await tx.query<{ disabled: boolean; had_password: boolean }>(
    `select disabled, password_hash is not null as had_password from auth.person where username = $1`,
    [username],
  )
  if (!rows[0]?.had_password)
    throw new Refusal(
      'conflict',
      `${username} signs in with the identity provider and has no password here`,
    )
  if (rows[0].disabled)
    throw new Refusal(
      'conflict',
      `${username} is disabled, so a password would not let them in; reset that of another administrator`,
    )
  await tx.query(
    'update auth.person set password_hash = $2, password_generated_at = $3 where username = $1',
    [username, hash, now],
  )
}
