import { type Kysely, sql } from 'kysely'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import { readToday } from './ledger.ts'

/** A person's held GPUs, active jobs, and GPU milliseconds since midnight UTC. */
export async function readUsage(db: Kysely<JobTables & UsageTables>, username: string, now: Date) {
  const [{ rows }, gpu_ms] = await Promise.all([
    sql<{ gpus: number; jobs: number }>`
      select coalesce(sum(gpus), 0) as gpus, count(*) as jobs
        from jobs
       where owner = ${username} and ended_at is null and state = any(${holding})`.execute(db),
    readToday(db, username, now),
  ])
  const { gpus = 0, jobs = 0 } = rows[0] ?? {}
  return { gpus, jobs, gpu_ms }
}

/** States in which a job holds GPUs. */
const holding: readonly JobState[] = ['scheduled', 'starting', 'running', 'pausing', 'stopping']
