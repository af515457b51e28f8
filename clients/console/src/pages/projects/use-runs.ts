import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import { byInterest } from '../../../../../schemas/metrics/interest.ts'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { projectMetricKeys } from '../../../../../schemas/series.ts'
import { keysParameter } from '../../charts/series.ts'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, readingPage, reread } from '../../session/api.ts'
import { columnsOf, namesOf } from './columns.ts'
import { type Order, textOfOrder } from './sort.ts'

type MetricKeys = Static<typeof projectMetricKeys>

/** Listed at most; a search finds the others. */
const mostRuns = 200
export const rereadMs = 2_000
/** Values of runs that columns and panels may need, the most that a list takes. */
const maxAskedKeys = 30

type Listed = { q: string; order: Order | null; columns: readonly string[] }
type Needed = { metrics: readonly string[]; hparams: readonly string[] }

/** By default what a workspace lists while nobody has chosen anything. */
export function readingRunsOf(
  project: string,
  { q, order, columns }: Listed = { q: '', order: null, columns: columnsOf(undefined, null) },
  { metrics, hparams }: Needed = { metrics: [], hparams: [] },
) {
  const ofColumns = namesOf(columns)
  const asked = (own: readonly string[], others: readonly string[]) =>
    keysParameter([...new Set([...own, ...others])].slice(0, maxAskedKeys)) || undefined
  return readingPage<RunRow>('/api/runs', {
    ...{ project, q: q || undefined, limit: mostRuns, archived: 'false' },
    sort: order === null ? undefined : textOfOrder(order),
    metrics: asked(ofColumns.metrics, metrics),
    hparams: asked(ofColumns.hparams, hparams),
  })
}

/** The first runs that match in this order, the newest by default; without archived ones, kept up to date. */
export function useRunsOf(project: string, listed: Listed, needed: Needed) {
  const again = useThrottled(() => reread('/api/runs'), rereadMs)
  useLive('jobs', { onEvent: again, onGap: again })
  return useQuery({
    ...readingRunsOf(project, listed, needed),
    placeholderData: keepPreviousData,
  })
}

/** A list names at most 50 metrics of a run. */
export const isCut = ({ summary, counts }: RunRow) =>
  counts.metric_keys > Object.keys(summary).length

/** The metrics of the shown runs; those of all runs, where the list leaves some of the shown ones out. */
export function useKeys(project: string, q: string, shown: readonly RunRow[]): string[] {
  const all = useQuery({
    ...reading<MetricKeys>(`/api/projects/${encodeURIComponent(project)}/metric-keys`, { q }),
    enabled: shown.some(isCut),
    placeholderData: keepPreviousData,
  })
  const named = shown.flatMap(run => Object.keys(run.summary))
  const others = shown.some(isCut) ? (all.data?.keys ?? []).map(({ key }) => key) : []
  return byInterest(new Map([...named, ...others].map(key => [key, { count: 0 }])))
}
