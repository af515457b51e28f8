import { type Kysely, sql } from 'kysely'
import type { JobTables } from '../projector/jobs/table.ts'
import type { JobState } from '../schemas/jobs.ts'

/** A person's held GPUs, active jobs, and GPU hours since midnight UTC. */
export async function readUsage(db: Kysely<JobTables>, username: string, now: Date) {
  const midnight = new Date(now)
  midnight.setUTCHours(0, 0, 0, 0)
  const { rows } = await sql<{ gpus: number; jobs: number; gpu_seconds: number }>`
    select coalesce(sum(gpus) filter (where state = any(${holding})), 0) as gpus,
           count(*) filter (where state = any(${holding})) as jobs,
           (select coalesce(sum(extract(epoch from
                     least(coalesce(a.ended_at, ${now}), ${now}) - greatest(a.started_at, ${midnight})) * j.gpus), 0)::float8
              from jobs j join job_attempts a using (run_id)
             where j.owner = ${username} and a.started_at is not null
               and coalesce(a.ended_at, ${now}) > ${midnight}) as gpu_seconds
      from jobs where owner = ${username} and ended_at is null`.execute(db)
  const { gpus = 0, jobs = 0, gpu_seconds = 0 } = rows[0] ?? {}
  return { gpus, jobs, gpu_seconds }
}

/** States in which a job holds GPUs. */
const holding: readonly JobState[] = ['scheduled', 'starting', 'running', 'pausing', 'stopping']
