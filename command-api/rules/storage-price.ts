import type { Pool } from 'pg'

/** The price of a GB and month that was in force then; `0` before the first version of the rates. */
export async function storagePriceAt(pool: Pool, at: Date): Promise<string> {
  const { rows } = await pool.query<{ price: string }>({
    name: 'storage_price',
    text: `select storage_per_gb_month::text as price from write.rate_version
            where not is_replaced and effective_at <= $1 order by effective_at desc, version desc limit 1`,
    values: [at],
  })
  return rows[0]?.price ?? '0'
}
