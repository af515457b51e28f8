import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

/** A person's hash before a slow check. Changes of the person wait for a transaction that holds the lock on their stream. */
export type KnownHash = { username: string; hash: string | null }

/** Null if the person has no password here. */
export async function readHash(pool: Pool, username: string): Promise<string | null> {
  const { rows } = await pool.query<{ password_hash: string | null }>(
    'select password_hash from auth.person where username = $1',
    [username],
  )
  return rows[0]?.password_hash ?? null
}

/** Whether the hash is still the same, and the person may sign in. */
export async function isStillValid(
  tx: Transaction,
  { username, hash }: KnownHash,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select 1 from auth.person where username = $1 and password_hash = $2 and not disabled',
    [username, hash],
  )
  return rowCount !== 0
}

/** By a password that the person chose. */
export async function replaceHash(
  tx: Transaction,
  { username, hash }: KnownHash,
  next: string,
): Promise<void> {
  const { rowCount } = await tx.query(
    `update auth.person set password_hash = $3, password_generated_at = null
      where username = $1 and password_hash = $2`,
    [username, hash, next],
  )
  if (rowCount === 0) throw changedMeanwhile()
}

export const changedMeanwhile = (): Refusal =>
  new Refusal('conflict', 'Another request changed the password at the same time; sign in again')
