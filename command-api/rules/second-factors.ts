import type { Pool } from 'pg'
import { requiresFactor } from '../../auth/second-factor.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { dropIdleRecoveryCodes } from './recovery-codes.ts'

export type Method = 'totp' | 'passkey'

/** What a person has. Passkeys count even if the address of the installation admits none: the password alone must not suffice. */
export async function methodsOf(db: Pick<Pool, 'query'>, username: string): Promise<Method[]> {
  const { rows } = await db.query<{ totp: boolean; passkey: boolean }>(
    `select exists (select from auth.totp where username = $1) as totp,
            exists (select from auth.passkey where username = $1) as passkey`,
    [username],
  )
  return (['totp', 'passkey'] as const).filter(method => rows[0]?.[method])
}

export async function hasSecondFactor(db: Pick<Pool, 'query'>, username: string): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>('select auth.has_second_factor($1) as has', [
    username,
  ])
  return rows[0]?.has === true
}

/** Call after a person has removed one of their own factors. Refuses if it was the last one and the installation requires one. */
export async function afterRemoval(
  { config }: Pick<Deps, 'config'>,
  tx: Transaction,
  { username, role }: { username: string; role: 'admin' | 'operator' },
): Promise<void> {
  if (requiresFactor(config.secondFactor, role) && !(await hasSecondFactor(tx, username)))
    throw new Refusal(
      'conflict',
      'This is your last second factor, and this installation requires one; set up another first',
      { code: 'second_factor.last' },
    )
  await dropIdleRecoveryCodes(tx, username)
}
