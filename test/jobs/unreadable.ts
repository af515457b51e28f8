import type { JobsWithExecutor } from './jobs-with-executor.ts'

/** Its admission becomes an event that this version cannot read. */
export async function makeUnreadable({ pool }: JobsWithExecutor, run_id: string): Promise<void> {
  await pool.query('alter table write.event disable trigger user')
  await pool.query(
    `update write.event set schema_version = 99 where stream = $1 and type = 'job.admitted'`,
    [`job-${run_id}`],
  )
}
