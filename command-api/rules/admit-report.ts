import type { Pool } from 'pg'
import type { RunCaller } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import { remembered } from '../../platform/remembered.ts'
import type { Clock } from '../../platform/time.ts'

/** The state of a reporting run, as the write side knows it. */
export type ReportingRun = {
  short_id: string | null
  source: 'job' | 'external'
  control: 'none' | 'checkpoint_and_exit' | 'exit'
  ended_at: Date | null
}

/** How long a run is cached, in milliseconds: stops reach running code up to this much later. */
const ttlMs = 1000
/** While Postgres is down, entries up to a minute old are used. */
const staleMs = 60_000
/** Reports are accepted for this long after the end of a run, in milliseconds. */
const lateMs = 15 * 60_000

export type Reports = {
  /**
   * Accepts a report or refuses it: 403 for a `run_id` other than the token's (with the same text whether that run
   * exists or not), 409 from 15 minutes after the run's end unless it is accepted at any time. Sends requests to the
   * running code in `Forge-Control`. Replaces a short id in the body by the run's id.
   */
  admit(asked: AskedReport, options?: AdmitOptions): Promise<ReportingRun>
  /** The runs that have reported since the last call. */
  takeReporters(): string[]
}

/** `atAnyTime`: however long ago the run ended. */
type AdmitOptions = { atAnyTime?: boolean }

type AskedReport = {
  caller: RunCaller
  body: { run_id: string }
  ctx: { set: (name: string, value: string) => void }
}

export function createReports(pool: Pool, now: Clock): Reports {
  const find = remembered({ ttlMs, staleMs }, (runIds: string[]) => findRuns(pool, runIds))
  const reporters = new Set<string>()
  return {
    takeReporters() {
      const taken = [...reporters]
      reporters.clear()
      return taken
    },
    async admit({ caller, body, ctx }, { atAnyTime = false } = {}) {
      const run = await find(caller.runId)
      if (!run || (body.run_id !== caller.runId && body.run_id !== run.short_id))
        throw new Refusal('forbidden', 'The ingest token belongs to a different run than run_id')
      const { ended_at } = run
      const isLate = ended_at !== null && now().getTime() - ended_at.getTime() > lateMs
      if (isLate && !atAnyTime)
        throw new Refusal(
          'conflict',
          `The run ended at ${ended_at.toISOString()}; reports are accepted for 15 minutes after the end`,
          {
            code: 'run.ended',
          },
        )
      body.run_id = caller.runId
      ctx.set('Forge-Control', run.control)
      reporters.add(caller.runId)
      return run
    },
  }
}

async function findRuns(pool: Pool, runIds: string[]): Promise<Map<string, ReportingRun>> {
  const { rows } = await pool.query<ReportingRun & { run_id: string }>({
    name: 'reporting_runs',
    text: `select run_id, short_id, source, control, ended_at from write.run_state where run_id = any($1)`,
    values: [runIds],
  })
  return new Map(rows.map(row => [row.run_id, row]))
}
