import type { Pool } from 'pg'
import type { SealedFor, SealingKeys } from '../../auth/sealing-keys.ts'
import type { SecretName } from '../../events/secrets.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Bound to owner and name: a value copied to another row does not open. */
export const sealedFor = ({ owner, name }: SecretName): SealedFor => ({
  purpose: 'forge secret',
  owner: `${owner}/${name}`,
})

/** Which of these secrets a person does not have, in the order given. */
export async function missingSecrets(
  db: Pool | Transaction,
  owner: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return []
  const { rows } = await db.query<{ name: string }>(
    'select name from write.secret where owner = $1 and name = any($2)',
    [owner, names],
  )
  const known = new Set(rows.map(({ name }) => name))
  return names.filter(name => !known.has(name))
}

/** The current values of a person's secrets by name. Refuses if one is missing; throws if one cannot be opened. */
export async function openSecrets(
  db: Pool | Transaction,
  sealing: SealingKeys,
  owner: string,
  names: readonly string[],
): Promise<Record<string, string>> {
  if (names.length === 0) return {}
  const { rows } = await db.query<{ name: string; sealed: string }>(
    'select name, sealed from write.secret where owner = $1 and name = any($2)',
    [owner, names],
  )
  const values: Record<string, string> = {}
  for (const name of names) {
    const sealed = rows.find(row => row.name === name)?.sealed
    if (sealed === undefined)
      throw new Refusal(
        'conflict',
        `${owner} has removed the secret ${name} since this job was submitted; set it again (forge secret set ${name}), then retry the job`,
      )
    const value = await sealing.open(sealed, sealedFor({ owner, name }))
    if (value === null)
      throw new Error(
        `the secret ${name} of ${owner} was sealed with a key that this server does not have: restore <data>/keys from a backup, or give all hosts the same keys, or set the secret again`,
      )
    values[name] = value
  }
  return values
}
