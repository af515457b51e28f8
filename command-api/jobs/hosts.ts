import type { Deps } from '../deps.ts'
import type { ExecutorHost } from './active-attempts.ts'

type Needed = Pick<Deps, 'pool' | 'now'>

/** Records that a machine is supervising its attempts, and where their files are. */
export async function noteSeen(
  { pool, now }: Needed,
  { engine, runsDirectory = null }: Pick<ExecutorHost, 'engine' | 'runsDirectory'>,
): Promise<void> {
  await pool.query({
    name: 'engine_seen',
    // Precise enough for ten minutes, and cheap. A later time comes from a clock that was ahead.
    text: `insert into write.engine (engine, seen_at, runs_directory) values ($1, $2, $3)
           on conflict (engine) do update set seen_at = excluded.seen_at, runs_directory = excluded.runs_directory
            where engine.seen_at not between excluded.seen_at - interval '5 seconds' and excluded.seen_at + interval '5 seconds'
               or engine.runs_directory is distinct from excluded.runs_directory`,
    values: [engine, now(), runsDirectory],
  })
}

/** Records which machine an attempt from before an upgrade belongs to. */
export async function claim(
  { pool }: Pick<Needed, 'pool'>,
  { run_id, attempt }: { run_id: string; attempt: number },
  engine: string,
): Promise<void> {
  await pool.query(
    `update write.job_state set engine = $3
      where run_id = $1 and attempt = $2 and is_active and engine is null`,
    [run_id, attempt, engine],
  )
}

/**
 * The attempts of machines that have been silent for this long, and attempts from before an upgrade that no machine has claimed.
 */
export async function readLost({ pool, now }: Needed, executor: string, silentMs: number) {
  const { rows } = await pool.query<{ run_id: string; attempt: number; scheduled_at: Date }>({
    name: 'lost_attempts',
    text: `select j.run_id, j.attempt, j.scheduled_at
             from write.job_state j left join write.engine e using (engine)
            where j.is_active and j.executor = $1 and coalesce(e.seen_at, j.scheduled_at) < $2
            order by j.run_id`,
    values: [executor, new Date(now().getTime() - silentMs)],
  })
  return rows
}
