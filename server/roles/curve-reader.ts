import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { Curve, ReadCurves } from '../../command-api/plans/ports.ts'
import type { ReadTables } from '../../query-api/compose.ts'
import { readSeries } from '../../query-api/metrics/read.ts'

/** Enough to compare runs at a step. */
const buckets = 1000

/** Reads a metric of several runs from the read models. */
export function curveReader(pool: Pool): ReadCurves {
  const db = new Kysely<ReadTables>({ dialect: new PostgresDialect({ pool }) })
  const range = {
    axis: 'step' as const,
    from: Number.NEGATIVE_INFINITY,
    to: Number.POSITIVE_INFINITY,
  }
  return async (run_ids, key) => {
    const curves = new Map<string, Curve>()
    for (const run_id of run_ids) {
      const [series] = await readSeries(db, run_id, {
        ...range,
        ...{ keys: [key], buckets },
      })
      const points = series?.points ?? []
      if (points.length > 0)
        curves.set(
          run_id,
          // A bucket without a finite value has neither.
          points.flatMap(([step, min, max]) =>
            min === null || max === null ? [] : [{ step, min, max }],
          ),
        )
    }
    return curves
  }
}
