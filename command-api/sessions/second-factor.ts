import type { UserEvent } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import type { Transaction } from '../commit/event-store.ts'

/** What a person gave besides the password. `sid`: the session that they confirm; null: they sign in. */
type Given = { username: string; sid: string | null; code?: string; passkey?: unknown }

type Missing = { is: 'missing'; methods: readonly string[]; passkey: object | null }

/**
 * Checks the second factor of a person whose password was right; right as well if they have none. `use` spends the code or the
 * signature in the transaction that opens the session, and refuses if it was spent meanwhile.
 */
export type CheckSecondFactor = (
  asked: Asked,
  given: Given,
) => Promise<
  | Missing
  | { is: 'wrong' | 'locked' }
  | { is: 'right'; events: readonly UserEvent[]; use(tx: Transaction): Promise<void> }
>
export type SecondFactor = Awaited<ReturnType<CheckSecondFactor>>

const refusals = {
  wrong: [
    'wrong',
    'The code is wrong, or was used before; enter the one that the authenticator shows now, or a recovery code',
  ],
  passkey: [
    'wrong',
    'This is not a passkey of yours, or its response is not valid or too old; try again',
  ],
  locked: [
    'locked',
    'Too many codes were wrong; sign in with a recovery code or a passkey and change your password, or ask an administrator',
  ],
} as const

/**
 * All of these say that the password was right. Without a second factor, the same attempt would have opened a session, which says
 * as much; attempts are counted and held before the password is tried, and a wrong factor counts as a wrong password.
 */
export function withoutFactor(
  factor: Exclude<SecondFactor, { is: 'right' }>,
  { passkey }: Pick<Given, 'passkey'>,
): Refusal {
  if (factor.is === 'missing') return missing(factor)
  const [code, detail] = refusals[passkey === undefined ? factor.is : 'passkey']
  return new Refusal('unauthenticated', detail, { code: `second_factor.${code}` })
}

/** Programs cannot use passkeys, but their people can approve them in a browser. */
function missing({ methods, passkey }: Missing): Refusal {
  const hasTotp = methods.includes('totp')
  const wanted = [
    ...(hasTotp ? ['a code of your authenticator'] : []),
    ...(methods.includes('passkey') ? ['your passkey'] : []),
    'a recovery code',
  ]
  const detail = `A second factor is needed as well: ${wanted.slice(0, -1).join(', ')} or ${wanted.at(-1)}`
  return new Refusal('unauthenticated', detail, {
    code: 'second_factor.required',
    data: { methods, passkey },
    ...(!hasTotp && { hint: 'on the command line, forge login and approve it in a browser' }),
  })
}
