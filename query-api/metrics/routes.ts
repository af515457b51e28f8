import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import {
  exportQuery,
  metricKeyRow,
  metricSeries,
  pointStreamQuery,
  seriesQuery,
} from '../../schemas/metrics/reads.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { one } from '../reading/list.ts'
import { parseKeys } from '../reading/page.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, findRun, ofRun } from '../rules/access.ts'
import { cursorOf, type OpenStream } from '../sse/sse.ts'
import { exportPoints } from './export.ts'
import { pointFeed } from './feed.ts'
import { KeptSeries } from './kept-series.ts'
import { readKeys, readSeries } from './read.ts'
import { readHead } from './tail.ts'

export type Tables = MetricTables & LogTables & AccessTables

const maxKeys = 200

export type MetricDeps = {
  reads: Reads<Tables>
  openStream: OpenStream
}

const of = '/api/runs/{run_id}/metrics'
const common = {
  credential: 'person',
  reach: 'its_people',
  tag: 'metrics',
  params: runIdInPath,
} as const

export const metricRoutes = (deps: MetricDeps): Route[] => [
  ...seriesRoutes(deps.reads, new KeptSeries()),
  exportRoute(deps.reads),
  streamRoute(deps),
]

const seriesRoutes = (reads: Reads<Tables>, kept: KeptSeries): Route[] => [
  one({
    ...ofRun(reads),
    path: `${of}/keys`,
    tag: 'metrics',
    summary: 'The metrics of a run by name, with what is known of each',
    response: Type.Array(metricKeyRow),
    read: ({ run_id, db }) => readKeys(db, run_id),
  }),
  one({
    ...ofRun(reads),
    path: of,
    tag: 'metrics',
    summary: 'Series of metrics, each in a limited number of buckets with true extremes',
    query: seriesQuery,
    response: Type.Array(metricSeries),
    async read({ run_id, db }, { query, ctx }) {
      const { from, to, buckets = 1000, x = 'step' } = query
      const keys = parseKeys(query.keys, 'keys', maxKeys)
      // Read before the series, so that the stream continues from here without a gap.
      ctx.set('Forge-Cursor', String(await readHead(db, run_id)))
      const range = { from: from ?? Number.NEGATIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY }
      return readSeries(db, run_id, { keys, axis: x, ...range, buckets }, kept)
    },
  }),
]

const exportRoute = (reads: Reads<Tables>): Route =>
  route({
    ...common,
    method: 'GET',
    path: `${of}/export`,
    summary: 'Every point of a run',
    query: exportQuery,
    response: {
      mediaType: ['text/csv', 'application/jsonl'],
      description:
        "A point a line: key, step, value, ts. In CSV, a key that a spreadsheet would run as a formula gets a leading '",
    },
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { format = 'csv', keys } = query
      ctx.type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8'
      ctx.set('Content-Disposition', `attachment; filename="${run_id}.${format}"`)
      const chosen = keys === undefined ? null : parseKeys(keys, 'keys', maxKeys)
      ctx.body = Readable.from(exportPoints(db, run_id, { format, keys: chosen }))
    },
  })

const streamRoute = ({ reads, openStream }: MetricDeps): Route =>
  route({
    ...common,
    method: 'GET',
    path: `${of}/stream`,
    summary: 'Follow the points of a run (server-sent events `points`, `eof`)',
    query: pointStreamQuery,
    response: { mediaType: 'text/event-stream', description: 'Events `points` and, last, `eof`' },
    refusals: ['not_found', 'rate_limited'],
    async handle({ caller, params, query, ctx }) {
      const { run_id } = await findRun(reads, caller, params.run_id)
      const keys = query.keys === undefined ? null : parseKeys(query.keys, 'keys', maxKeys).sort()
      await openStream(ctx, caller, {
        feeds: [pointFeed(reads.shared([run_id]), run_id, keys)],
        from: cursorOf(ctx, query.after) ?? { at: [0], ended: false },
        check: () => findRun(reads, caller, run_id),
      })
    },
  })
