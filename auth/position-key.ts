import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'

/** The key of `positionSeal`, the same in every process; the first process of an installation creates it. */
export async function readPositionKey(pool: Pool): Promise<Buffer> {
  await pool.query('insert into auth.position_key (key) values ($1) on conflict do nothing', [
    randomBytes(32),
  ])
  const { rows } = await pool.query<{ key: Buffer }>('select key from auth.position_key')
  if (!rows[0]) throw new Error('auth.position_key is empty')
  return rows[0].key
}
