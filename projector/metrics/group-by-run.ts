import { decodeFact } from '../../events/fact.ts'
import type { Batch } from '../../platform/log/event-log.ts'
import { decodeBlock } from '../../platform/series/block.ts'
import type { Points } from '../../platform/series/points.ts'

/** One log record: `counts[k]` points of `keys[k]`, starting at index `from` of the points. */
export type MetricReport = { keys: readonly string[]; counts: readonly number[]; from: number }

/** The reports of one run, in log order. */
export type RunReports = {
  runId: string
  reports: MetricReport[]
  points: number
  /** Time of receipt of the newest, epoch milliseconds. */
  receivedMs: number
}

/** Groups metric records by run and appends their points to `into`. Throws for a damaged record. */
export function groupByRun(batches: readonly Batch[], into: Points): RunReports[] {
  const runs = new Map<string, RunReports>()
  for (const { records } of batches)
    for (const { value } of records) {
      const fact = decodeFact(value)
      if (fact.type !== 'metrics.appended')
        throw new Error(`${fact.type} does not belong among metrics`)
      let run = runs.get(fact.run_id)
      if (!run) {
        run = { runId: fact.run_id, reports: [], points: 0, receivedMs: 0 }
        runs.set(fact.run_id, run)
      }
      const report = decodeBlock(fact.body, into)
      // A report without points gets no number: a stream would stop at it for nothing.
      if (report.keys.length === 0) continue
      run.reports.push(report)
      run.points += into.length - report.from
      run.receivedMs = Math.max(run.receivedMs, fact.received_at_ms)
    }
  return [...runs.values()]
}
