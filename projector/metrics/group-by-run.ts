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
  /** Offset of the first report. */
  firstOffset: bigint
  /** Time of receipt of the newest report, epoch milliseconds. */
  receivedMs: number
}

/** Groups metric records by run and appends their points to `into`. Throws for a damaged record. */
export function groupByRun(batches: readonly Batch[], into: Points): RunReports[] {
  const runs = new Map<string, RunReports>()
  for (const { records } of batches)
    for (const { value, offset } of records) {
      const fact = decodeFact(value)
      if (fact.type !== 'metrics.appended')
        throw new Error(`${fact.type} does not belong among metrics`)
      const run = reportsOf(runs, fact.run_id)
      const report = decodeBlock(fact.body, into)
      // A report without points gets no number: a stream would stop there for nothing.
      if (report.keys.length === 0) continue
      if (run.reports.length === 0) run.firstOffset = offset
      run.reports.push(report)
      run.points += into.length - report.from
      run.receivedMs = Math.max(run.receivedMs, fact.received_at_ms)
    }
  return [...runs.values()]
}

function reportsOf(runs: Map<string, RunReports>, runId: string): RunReports {
  const known = runs.get(runId)
  if (known) return known
  const none = { runId, reports: [], points: 0, firstOffset: 0n, receivedMs: 0 }
  runs.set(runId, none)
  return none
}
