import type { Pool } from 'pg'
import { type Repeated, repeat } from '../platform/repeat.ts'
import type { Load } from './under-way.ts'

/** The interval in milliseconds; the scaling of engines ignores reports older than five seconds. */
const everyMs = 1_000

export type TellingDeps = {
  pool: Pool
  /** Identifies this process. */
  gateway_id: string
  take: () => Load[]
  failed: (error: unknown) => void
}

/** Reports the requests under way to the database every second. A failed report is repeated; no request waits for it. */
export const tellLoad = ({ pool, gateway_id, take, failed }: TellingDeps): Repeated =>
  repeat(
    async () => {
      const loads = take()
      if (loads.length > 0)
        await pool.query({
          name: 'tell_load',
          text: `insert into write.serving_load (gateway_id, subject, in_flight, concurrency, seen_at)
                 select $1, l.subject, l.in_flight, l.concurrency, clock_timestamp()
                   from unnest($2::text[], $3::int[], $4::float8[]) as l (subject, in_flight, concurrency)
                 on conflict (subject, gateway_id) do update
                   set in_flight = excluded.in_flight, concurrency = excluded.concurrency, seen_at = excluded.seen_at`,
          values: [
            ...[gateway_id, loads.map(({ subject }) => subject)],
            ...[loads.map(one => one.in_flight), loads.map(one => one.concurrency)],
          ],
        })
      return everyMs
    },
    { failed, retryMs: { first: everyMs, most: 5 * everyMs } },
  )
