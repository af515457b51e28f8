import type { Pool } from 'pg'
import type { Route } from '../../auth/route.ts'
import type { Clock } from '../../platform/time.ts'
import { ratesQuery, ratesRow } from '../../schemas/billing.ts'
import { currency } from '../../schemas/profiles.ts'
import { pagedList } from '../reading/list.ts'

/** `pool` can read the schema `write`: rates have no read model. */
export const ratesRoute = ({ pool, now }: { pool: Pool; now: Clock }): Route =>
  pagedList({
    path: '/api/billing/rates',
    credential: 'admin',
    of: () => pool,
    tag: 'billing',
    summary: 'The prices by series that were set, newest first, and since when they apply',
    query: ratesQuery,
    row: ratesRow,
    async read(db, _, { limit, offset }) {
      const { rows } = await db.query(
        `select version, effective_at, $3 as currency, gpu, storage_per_gb_month::text, set_by, set_at,
                case when is_replaced then 'replaced' when effective_at > $4 then 'planned'
                     when version = (select version from write.rate_version where not is_replaced and effective_at <= $4
                                      order by effective_at desc, version desc limit 1) then 'in_force'
                     else 'past' end as state
           from write.rate_version order by version desc limit $1 offset $2`,
        [limit, offset, currency, now()],
      )
      const counted = await db.query<{ count: number }>(
        'select count(*)::integer as count from write.rate_version',
      )
      return { rows, counted: counted.rows[0]?.count ?? 0 }
    },
  })
