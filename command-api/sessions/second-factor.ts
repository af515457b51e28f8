import type { UserEvent } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

/**
 * Checks the second factor of a person whose password was right; right as well if they have none. `use` spends the code in the
 * transaction that opens the session, and refuses if it was spent meanwhile.
 */
export type CheckSecondFactor = (
  username: string,
  code: string | undefined,
) => Promise<
  | { is: 'missing' | 'wrong' | 'locked' }
  | { is: 'right'; events: readonly UserEvent[]; use(tx: Transaction): Promise<void> }
>
export type SecondFactor = Awaited<ReturnType<CheckSecondFactor>>

const refusals = {
  missing: ['required', 'A code is needed as well: of your authenticator, or a recovery code'],
  wrong: [
    'wrong',
    'The code is wrong, or was used before; enter the one that the authenticator shows now, or a recovery code',
  ],
  locked: [
    'locked',
    'Too many codes were wrong; sign in with a recovery code and change your password, or ask an administrator',
  ],
} as const

/**
 * All of these say that the password was right. Without a second factor, the same attempt would have opened a session, which says
 * as much; attempts are counted and held before the password is tried, and a wrong code counts as a wrong password.
 */
export function withoutCode(is: keyof typeof refusals): Refusal {
  const [code, detail] = refusals[is]
  return new Refusal('unauthenticated', detail, { code: `second_factor.${code}` })
}
