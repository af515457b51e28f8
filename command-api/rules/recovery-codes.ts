import { randomBytes } from 'node:crypto'
import { Secret } from 'otpauth'
import { sha256 } from '../../auth/opaque-token.ts'
import type { Transaction } from '../commit/event-store.ts'

const recoveryCodes = 10
/** As 16 characters of base32. */
const recoveryBytes = 10

/** Ten new codes like `k3rq-7wzp-mf2d-xayb`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const bytes = new Uint8Array(randomBytes(recoveryBytes))
    const text = new Secret({ buffer: bytes.buffer }).base32.toLowerCase()
    return text.match(/.{4}/g)?.join('-') ?? text
  })

/** A plain hash suffices: the codes are random, and too long to be tried one by one. */
export const recoveryHash = (code: string): Buffer => sha256(code.replaceAll('-', ''))

/** The person's earlier codes are no longer valid. */
export async function replaceRecoveryCodes(
  tx: Transaction,
  username: string,
  codes: readonly string[],
): Promise<void> {
  await tx.query('delete from auth.recovery_code where username = $1', [username])
  await tx.query(
    'insert into auth.recovery_code (username, code_sha256) select $1, unnest($2::bytea[])',
    [username, codes.map(recoveryHash)],
  )
}

/** New ones, if the person has none left; else none. */
export async function recoveryCodesFor(tx: Transaction, username: string): Promise<string[]> {
  const { rowCount } = await tx.query(
    'select from auth.recovery_code where username = $1 limit 1',
    [username],
  )
  if (rowCount !== 0) return []
  const codes = newRecoveryCodes()
  await replaceRecoveryCodes(tx, username, codes)
  return codes
}

/** Without a second factor there is nothing to recover, and a later one must not be opened with codes of an earlier one. */
export async function dropIdleRecoveryCodes(tx: Transaction, username: string): Promise<void> {
  await tx.query(
    'delete from auth.recovery_code where username = $1 and not auth.has_second_factor($1)',
    [username],
  )
}
