import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import { Invalid } from '../../schemas/validate.ts'
import { roleOf } from '../rules/enabled-person.ts'

/** A path inside a volume without `.`, `..` and empty parts; `''` is the volume itself. */
export function normalPath(named: string): string {
  const parts = named.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..'))
    throw new Invalid([
      {
        ...{ loc: ['body', 'path'], type: 'value_error', input: named },
        msg: 'Value error, the path leads out of the volume',
      },
    ])
  return parts.join('/')
}

/** Refused at once rather than in the background: only admins write datasets of others. */
export async function refuseDataset(
  pool: Pool,
  dataset: string,
  { username, role }: { username: string; role: string },
): Promise<void> {
  const [owner = ''] = dataset.split('/')
  if (owner === username) return
  if (role !== 'admin')
    throw new Refusal('forbidden', `Only ${owner} and admins may write datasets of ${owner}`)
  if ((await roleOf(pool, owner)) === null) throw new Refusal('not_found', `No such user: ${owner}`)
}
