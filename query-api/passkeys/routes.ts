import type { Pool } from 'pg'
import type { Route } from '../../auth/route.ts'
import { maxPasskeys, passkey, passkeyListQuery } from '../../schemas/passkeys.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { pagedList } from '../reading/list.ts'

type Row = { passkey_id: string; name: string; created_at: Date; last_used_at: Date | null }

/** `pool` can read the schema `auth`. */
export const passkeyRoutes = (pool: Pool): Route[] => [
  pagedList({
    of: ({ caller }) => caller,
    path: '/api/auth/passkeys',
    credential: 'person',
    tag: 'auth',
    summary: 'Your own passkeys, newest first',
    query: passkeyListQuery,
    row: passkey,
    async read({ username }, _, { limit, offset }) {
      const { rows } = await pool.query<Row>(
        `select passkey_id, name, created_at, last_used_at from auth.passkey
          where username = $1 order by created_at desc, passkey_id desc limit ${maxPasskeys}`,
        [username],
      )
      const page = rows.slice(offset, offset + limit).map(row => ({
        ...row,
        created_at: toTimestamp(row.created_at),
        last_used_at: row.last_used_at && toTimestamp(row.last_used_at),
      }))
      return { rows: page, counted: rows.length }
    },
  }),
]
