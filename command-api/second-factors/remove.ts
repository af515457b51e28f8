import { type User, type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import { forgetPasskeys } from '../rules/forget-passkeys.ts'
import { removeFactor } from './decide.ts'

/**
 * Removes the authenticator of a person with its recovery codes; signing in takes the password alone again. `forOthers`: somebody
 * recovers the account, so that its passkeys go as well.
 */
export async function removeSecondFactor(
  deps: CommitDeps,
  asked: Asked,
  username: string,
  { forOthers }: { forOthers: boolean },
): Promise<void> {
  await commit(deps, asked, userAt(username), {
    decide: (user: User): UserEvent[] => removeFactor(user, username),
    async alongside(tx) {
      await tx.query('delete from auth.recovery_code where username = $1', [username])
      const { rowCount } = await tx.query(
        'delete from auth.totp where username = $1 and set_up_at is not null',
        [username],
      )
      const hadPasskeys = forOthers && (await forgetPasskeys(tx, username))
      if (rowCount === 0 && !hadPasskeys)
        throw new Refusal('conflict', `${username} has no second factor`)
    },
  })
}
