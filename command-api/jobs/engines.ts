import type { Deps } from '../deps.ts'

/** A machine that was not heard of for this long has lost its attempts. */
const lostAfterMs = 600_000

type Needed = Pick<Deps, 'pool' | 'now'>

/** Notes that a machine looks after its attempts. */
export async function noteSeen({ pool, now }: Needed, engine: string): Promise<void> {
  await pool.query({
    name: 'engine_seen',
    // Precise enough for ten minutes, and cheap.
    text: `insert into write.engine (engine, seen_at) values ($1, $2)
           on conflict (engine) do update set seen_at = excluded.seen_at
            where engine.seen_at < excluded.seen_at - interval '5 seconds'`,
    values: [engine, now()],
  })
}

/** The attempts of machines that were not heard of for ten minutes. */
export async function readLost({ pool, now }: Needed, executor: string) {
  const { rows } = await pool.query<{ run_id: string; attempt: number; scheduled_at: Date }>({
    name: 'lost_attempts',
    text: `select j.run_id, j.attempt, j.scheduled_at
             from write.job_state j left join write.engine e using (engine)
            where j.is_active and j.executor = $1 and j.engine is not null
              and coalesce(e.seen_at, j.scheduled_at) < $2
            order by j.run_id`,
    values: [executor, new Date(now().getTime() - lostAfterMs)],
  })
  return rows
}
