import type { UserEvent } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { hasSecondFactor, type Method, methodsOf } from '../rules/second-factors.ts'
import { type GivenCode, givenCode, sealedFor, stepOf } from './codes.ts'

/** The second factor of a person whose password was right. */
export type Checked =
  /** `methods`: what the person has. `passkey`: what a browser needs in order to sign; null without passkeys here. */
  | { is: 'missing'; methods: Method[]; passkey: object | null }
  /** `locked`: after too many wrong codes only a recovery code or a passkey is accepted. */
  | { is: 'wrong' | 'locked' }
  /** `use` spends the code in the transaction of the sign-in, and refuses if it was spent meanwhile; `events` go with it. */
  | { is: 'right'; events: readonly UserEvent[]; use(tx: Transaction): Promise<void> }

/** What a person gave besides the password. `sid`: the session that they confirm; null: they sign in. */
export type GivenFactor = {
  username: string
  sid: string | null
  code?: string
  passkey?: unknown
}

/** What codes need of passkeys. */
export type PasskeyStep = {
  /** Null where passkeys do not work at the address of this installation. */
  begin(of: GivenFactor): Promise<object | null>
  /** Null if it is not a passkey of this person, or its response is not valid. */
  prove(asked: Asked, of: GivenFactor): Promise<{ use(tx: Transaction): Promise<void> } | null>
}

type Needed = Pick<Deps, 'pool' | 'now' | 'logger' | 'sealing'>
type TotpRow = { sealed: string; last_step: number | null; wrong_codes: number }

/** In a row (NIST SP 800-63B, 5.2.2): the guard alone would allow thousands of guesses a day to somebody who knows the password. */
const maxWrongCodes = 100

/** Right as well if the person has no second factor. */
export async function checkSecondFactor(
  deps: Needed,
  passkeys: PasskeyStep,
  asked: Asked,
  given: GivenFactor,
): Promise<Checked> {
  const { username, code, passkey } = given
  const methods = await methodsOf(deps.pool, username)
  if (methods.length === 0)
    return { is: 'right', events: [], use: tx => refuseIfSetUp(tx, username) }
  if (passkey !== undefined) {
    const proven = await passkeys.prove(asked, given)
    return proven ? { is: 'right', events: [], use: proven.use } : { is: 'wrong' }
  }
  if (code === undefined) {
    const options = methods.includes('passkey') ? await passkeys.begin(given) : null
    return { is: 'missing', methods, passkey: options }
  }
  const typed = givenCode(code)
  if (typed?.is === 'recovery') return checkRecovery(deps, { username, given: typed })
  const totp = await readTotp(deps, username)
  return typed && totp ? checkTotp(deps, { username, totp, given: typed }) : { is: 'wrong' }
}

async function readTotp({ pool }: Needed, username: string): Promise<TotpRow | undefined> {
  const { rows } = await pool.query<TotpRow>(
    'select sealed, last_step::float8 as last_step, wrong_codes from auth.totp where username = $1',
    [username],
  )
  return rows[0]
}

type Totp = { username: string; totp: TotpRow; given: GivenCode & { is: 'totp' } }

async function checkTotp(deps: Needed, { username, totp, given }: Totp): Promise<Checked> {
  if (totp.wrong_codes >= maxWrongCodes) return { is: 'locked' }
  const secret = await deps.sealing.open(totp.sealed, sealedFor(username))
  if (secret === null) {
    deps.logger.error(
      { username },
      'the secret of an authenticator was sealed with a key that is not here: restore the sealing keys next to the signing keys (docs/operate/second-factors.md)',
    )
    return { is: 'wrong' }
  }
  const step = stepOf(given.code, { secret, nowMs: deps.now().getTime() })
  if (step === null || (totp.last_step !== null && step <= totp.last_step)) {
    await deps.pool.query(
      'update auth.totp set wrong_codes = wrong_codes + 1 where username = $1',
      [username],
    )
    return { is: 'wrong' }
  }
  return {
    is: 'right',
    events: [],
    async use(tx) {
      const { rowCount } = await tx.query(
        `update auth.totp set last_step = $2, wrong_codes = 0
          where username = $1 and sealed = $3
            and (last_step is null or last_step < $2)`,
        [username, step, totp.sealed],
      )
      if (rowCount === 0) throw usedMeanwhile()
    },
  }
}

type Recovery = { username: string; given: GivenCode & { is: 'recovery' } }

async function checkRecovery({ pool }: Needed, { username, given }: Recovery): Promise<Checked> {
  const { rowCount } = await pool.query(
    'select 1 from auth.recovery_code where username = $1 and code_sha256 = $2',
    [username, given.sha256],
  )
  if (rowCount === 0) return { is: 'wrong' }
  return {
    is: 'right',
    events: [{ type: 'user.recovery_code_used', data: { username } }],
    async use(tx) {
      const { rowCount: left } = await tx.query(
        'delete from auth.recovery_code where username = $1 and code_sha256 = $2',
        [username, given.sha256],
      )
      if (left === 0) throw usedMeanwhile()
      await tx.query('update auth.totp set wrong_codes = 0 where username = $1', [username])
    },
  }
}

/** It may have been set up since the check; no session may be opened without it after that. */
async function refuseIfSetUp(tx: Transaction, username: string): Promise<void> {
  if (await hasSecondFactor(tx, username)) throw usedMeanwhile()
}

const usedMeanwhile = () =>
  new Refusal('unauthenticated', 'The second factor was used or changed meanwhile; sign in again', {
    code: 'second_factor.wrong',
  })
