import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { MetricFacts, Observe, Observing } from '../../events/diagnosis-facts.ts'
import { pause } from '../../platform/pause.ts'
import type { ReadTables } from '../../query-api/compose.ts'
import { readLastPoints } from '../../query-api/hardware/last-points.ts'
import { searchBackward } from '../../query-api/logs/search.ts'
import { readEnd } from '../../query-api/metrics/feed.ts'
import { readKeys, readSeries, type SeriesPoints } from '../../query-api/metrics/read.ts'
import type { LogLine } from '../../schemas/logs.ts'

type Db = Kysely<ReadTables>

/** How long to wait for the last lines and points of a run that has ended, and how often to look. */
const lateMs = 8000
const lookMs = 200

/** Reads a run's reports from the read models, as far as a diagnosis needs them. */
export function observing(pool: Pool): Observe {
  const db: Db = new Kysely<ReadTables>({ dialect: new PostgresDialect({ pool }) })
  return async (asked, signal) => {
    const { run_id, isEnded } = asked
    const lastLook = performance.now() + lateMs
    while (isEnded && performance.now() < lastLook && !(await isComplete(db, run_id))) {
      await pause(lookMs, signal)
      signal.throwIfAborted()
    }
    return {
      lines: await lastLines(db, asked),
      metrics: await lastPoints(db, run_id),
      hardware: await readLastPoints(db, run_id),
    }
  }
}

/** Whether all lines and points of the run are in the read models. */
const isComplete = async (db: Db, run_id: string) => (await readEnd(db, run_id)) !== null

/** Limits on reading: a failure is reported at the end of a log. */
const maxLines = 4000
const maxRows = 64

/** In order: lines of this attempt, and lines without an attempt. */
async function lastLines(db: Db, { run_id, attempt }: Observing): Promise<LogLine[]> {
  const isWanted = (line: LogLine) => isOf(line, attempt)
  const matcher = { isWanted, isFrom: isWanted, mayHold: () => true, maxRows }
  const from = Number.MAX_SAFE_INTEGER
  return (await searchBackward(db, run_id, { from, limit: maxLines, matcher })).lines
}

const isOf = (line: LogLine, attempt: number | null): boolean =>
  attempt === null || line.attempt === null || line.attempt === attempt

/** Losses and gradients first: they reveal most about a failure. */
const telling = /loss|nll|grad|norm|ppl|perplexity|reward|objective/i
const maxKeys = 30
const maxPoints = 400

async function lastPoints(db: Db, run_id: string): Promise<MetricFacts[]> {
  const keys = (await readKeys(db, run_id)).map(({ key }) => key)
  const chosen = [
    ...keys.filter(key => telling.test(key)),
    ...keys.filter(key => !telling.test(key)),
  ]
  if (chosen.length === 0) return []
  const series = await readSeries(db, run_id, {
    keys: chosen.slice(0, maxKeys),
    axis: 'step',
    from: Number.NEGATIVE_INFINITY,
    to: Number.POSITIVE_INFINITY,
    buckets: maxPoints,
  })
  return series.map(toFacts)
}

/** A bucket that holds a value that is not finite is itself not finite. */
function toFacts({ key, points, nonfinite }: SeriesPoints): MetricFacts {
  const marked = new Set(nonfinite.map(([step]) => step))
  return {
    key,
    points: points.map(([step, , , , last, ts]) => {
      const value = Number(last)
      return { step, value: marked.has(step) && Number.isFinite(value) ? Number.NaN : value, ts }
    }),
  }
}
