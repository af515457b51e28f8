import { type User, type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import { forgetPasskeys } from '../rules/forget-passkeys.ts'
import { removeFactor } from './decide.ts'

/** Removes the authenticator, the passkeys and the recovery codes of a person who lost them; the password alone signs in again. */
export const removeSecondFactors = (
  deps: CommitDeps,
  asked: Asked,
  username: string,
): Promise<void> =>
  remove(deps, asked, username, async (tx, hadTotp) => {
    const hadPasskeys = await forgetPasskeys(tx, username)
    if (!hadTotp && !hadPasskeys) throw hasNone(username)
  })

/** Removes the authenticator alone. `afterwards` runs in the same transaction. */
export const removeTotp = (
  deps: CommitDeps,
  asked: Asked,
  username: string,
  afterwards: (tx: Transaction) => Promise<void>,
): Promise<void> =>
  remove(deps, asked, username, async (tx, hadTotp) => {
    if (!hadTotp) throw hasNone(username)
    await afterwards(tx)
  })

async function remove(
  deps: CommitDeps,
  asked: Asked,
  username: string,
  finish: (tx: Transaction, hadTotp: boolean) => Promise<void>,
): Promise<void> {
  await commit(deps, asked, userAt(username), {
    decide: (user: User): UserEvent[] => removeFactor(user, username),
    async alongside(tx) {
      await tx.query('delete from auth.totp_begun where username = $1', [username])
      const { rowCount } = await tx.query('delete from auth.totp where username = $1', [username])
      await finish(tx, rowCount !== 0)
    },
  })
}

const hasNone = (username: string) => new Refusal('conflict', `${username} has no second factor`)
