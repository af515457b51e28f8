import type { ProjectSeries } from '../../../../schemas/series.ts'
import { addressOf } from '../session/api.ts'
import { request } from '../session/session.ts'
import { batched } from './batch.ts'
import { keysParameter, type MetricSeries, type XAxis } from './series.ts'
import type { Range } from './zoom.ts'

/** The curves of one key, and the runs or groups to which they belong. */
export type KeyOfRuns = {
  of: ProjectSeries['keys'][number]
  runs: ProjectSeries['runs']
  groups: ProjectSeries['groups']
}

export const pathOfSeries = (project: string): string =>
  `/api/projects/${encodeURIComponent(project)}/series`

/** Charts that come into view together are read together, with few enough keys at once that the first arrive soon. */
export const readCurves = batched<KeyOfRuns>(
  async (place, keys, signal) => {
    const [path = '', query = ''] = place.split('?')
    const asked = { keys: keysParameter(keys), ...Object.fromEntries(new URLSearchParams(query)) }
    const answer = await request<ProjectSeries>('GET', addressOf(path, asked), { signal })
    const { runs, groups, keys: found } = answer
    return found.map(of => ({ of, runs, groups }))
  },
  { most: 8, waitMs: 5 },
)

/** The range of a chart in the terms of the route: steps, milliseconds of the epoch or since the start of each run. */
export function rangeOfRuns(range: Range, x: XAxis) {
  const [from, to] = [range?.from ?? null, range?.to ?? null]
  if (from === null || to === null) return { x }
  return x === 'step'
    ? { x, from: Math.floor(from), to: Math.ceil(to) }
    : { x, from: Math.round(from * 1000), to: Math.round(to * 1000) }
}

type Read = { startMs: number; x: XAxis; series: MetricSeries | undefined }
const readOf = new WeakMap<KeyOfRuns, Map<string, Read>>()

/**
 * The curve of a run in the form in which the run's own metrics are read, without extremes; undefined: it has none. The same
 * object each time, so that lines that did not change are not drawn again.
 */
export function seriesOfRun(
  one: KeyOfRuns,
  runId: string,
  { x, startMs }: { x: XAxis; startMs: number },
): MetricSeries | undefined {
  const known = readOf.get(one)
  const all = known ?? new Map<string, Read>()
  if (known === undefined) readOf.set(one, all)
  const before = all.get(runId)
  if (before && before.x === x && before.startMs === startMs) return before.series
  const series = madeSeries(one, runId, { x, startMs })
  all.set(runId, { x, startMs, series })
  return series
}

function madeSeries(
  { of, runs }: KeyOfRuns,
  runId: string,
  { x, startMs }: { x: XAxis; startMs: number },
): MetricSeries | undefined {
  const nth = runs.findIndex(run => run.run_id === runId)
  const curve = of.curves.find(one => one.of === nth)
  if (nth < 0 || curve === undefined) return undefined
  const at = of.x[curve.x] ?? []
  return {
    key: of.key,
    bucketed: of.width > 0,
    nonfinite: [],
    points: at.map((place, index) => {
      const value = curve.mean[index] ?? null
      const [step, ts] = x === 'step' ? [place, 0] : [0, x === 'time' ? place : startMs + place]
      return [step, value, value, value, value ?? 'NaN', ts]
    }),
  }
}
