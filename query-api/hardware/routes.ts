import type { Kysely } from 'kysely'
import type { Route } from '../../auth/route.ts'
import type { HardwareTables } from '../../projector/hardware/table.ts'
import { type HardwareAnswer, hardwareAnswer, hardwareQuery } from '../../schemas/hardware.ts'
import { parseTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import { one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'
import { readGpus } from './gpus.ts'
import { findExtent, findSources, linesOf, type Range, readBuckets, type Source } from './read.ts'
import { summarize } from './summary.ts'

export type Tables = HardwareTables & AccessTables

export const hardwareRoutes = (reads: Reads<Tables>): Route[] => [
  one({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/hardware',
    tag: 'runs',
    summary: 'What the machines of a run did: series with true extremes, idle GPUs, stragglers',
    query: hardwareQuery,
    response: hardwareAnswer,
    async read({ run_id, db }, { query }) {
      const { keys, buckets = 200, from, to, ...choice } = query
      const asked = { from: instantOf('from', from) ?? 0, to: instantOf('to', to) ?? lastInstant }
      const sources = await findSources(db, run_id, choice)
      const extent = await findExtent(db, run_id, sources, asked)
      const dropped = await countDropped(db, run_id)
      if (extent === null)
        return { from: null, to: null, bucket_ms: 0, dropped, series: [], summary: summarize([]) }
      const wanted = { ...extent, keys: keys === undefined ? null : new Set(keys.split(',')) }
      const gpus = sources.filter(one => one.scope === 'gpu')
      return {
        ...extent,
        dropped,
        ...(await readSeries(db, run_id, sources, { ...wanted, buckets })),
        summary: summarize(await readGpus(db, run_id, gpus, extent)),
      }
    },
  }),
]

/** The last millisecond of the year 9999. */
const lastInstant = 253_402_300_799_999

function instantOf(field: 'from' | 'to', text: string | undefined): number | null {
  if (text === undefined) return null
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : parseTimestamp(text)
  if (!Number.isNaN(ms)) return ms
  throw new Invalid([
    {
      loc: ['query', field],
      msg: 'Input should be epoch milliseconds, or a timestamp with an offset',
      type: 'datetime_parsing',
      input: text,
    },
  ])
}

async function countDropped(db: Kysely<HardwareTables>, runId: string): Promise<number> {
  const row = await db
    .selectFrom('hardware_runs')
    .select('dropped')
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return row?.dropped ?? 0
}

type Wanted = Range & { keys: ReadonlySet<string> | null; buckets: number }

/** Maximum buckets of one response: with many GPUs, each gets fewer. */
const maxBuckets = 200_000

async function readSeries(
  db: Kysely<HardwareTables>,
  runId: string,
  sources: readonly Source[],
  { from, to, keys, buckets }: Wanted,
): Promise<Pick<HardwareAnswer, 'bucket_ms' | 'series'>> {
  const lines = linesOf(sources, keys)
  const each = Math.max(1, Math.min(buckets, Math.floor(maxBuckets / Math.max(1, lines.length))))
  const widthMs = Math.ceil((to - from + 1) / each)
  const points = await readBuckets(db, runId, lines, { from, to, widthMs })
  return {
    bucket_ms: widthMs,
    series: lines.flatMap(({ source, key, extra, place }) => {
      const { node, rank, index, uuid, scope } = source
      const found = points.get(`${source.source}/${place}`)
      return found ? [{ node, rank, index, uuid, scope, key, extra, points: found }] : []
    }),
  }
}
