import type { Forge } from '../servers/forge.ts'
import { type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { traceback } from './given.ts'

type Failing = {
  /** The last line of its traceback, which decides the fingerprint. */
  raised: string
  daysAgo?: number
  project?: string
  /** The token of its owner; by default the administrator. */
  token?: string
}

const dayS = 86_400

/** Runs that failed and were diagnosed, some of them long ago. */
export const failRuns = (
  forge: Pick<Forge, 'call' | 'pool'>,
  failing: readonly Failing[],
): Promise<ExternalRun[]> => Promise.all(failing.map(one => failRun(forge, one)))

async function failRun(
  forge: Pick<Forge, 'call' | 'pool'>,
  { raised, daysAgo = 0, project = 'demo', token }: Failing,
): Promise<ExternalRun> {
  const { body: run } = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project },
    ...(token !== undefined && { token }),
  })
  await ingest(forge, run, 'logs', { chunks: [traceback(raised)] })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1 })
  await until('the failure is diagnosed', 60_000, async () => {
    const { rowCount } = await forge.pool.query(
      `select from read.diagnoses d join read.runs r using (run_id)
        where d.run_id = $1 and d.fingerprint is not null and r.ended_at is not null`,
      [run.run_id],
    )
    return rowCount === 1
  })
  // The server stamps reports with its own clock, so only the read models can be older.
  for (const [table, column] of [
    ['runs', 'ended_at'],
    ['diagnoses', 'created_at'],
  ])
    await forge.pool.query(
      `update read.${table} set ${column} = ${column} - make_interval(secs => $2) where run_id = $1`,
      [run.run_id, daysAgo * dayS],
    )
  return run
}
