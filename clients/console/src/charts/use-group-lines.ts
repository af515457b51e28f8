import { useQuery } from '@tanstack/react-query'
import { addressOf } from '../session/api.ts'
import { type KeyOfRuns, pathOfSeries, rangeOfRuns, readCurves } from './project-series.ts'
import { keysParameter, type Line, labelIn, type XAxis } from './series.ts'
import type { Stroke } from './stroke.ts'
import { drawnOver, useStable } from './use-lines.ts'
import type { Range } from './zoom.ts'

/** The groups of a project's runs that a chart shows, each with the mean of its runs and a band around it. */
export type GroupSource = {
  project: string
  /** By what runs are grouped, in the format of the route. */
  group: string
  band: 'minmax' | 'std'
  /** Which runs: a search, or ids separated by commas; undefined for all. */
  q?: string | undefined
  runs?: string | undefined
  keys: readonly string[]
  isHidden: (value: string | null) => boolean
  labelOf: (value: string | null) => string
  strokeOf: (value: string | null, all: readonly (string | null)[]) => Stroke
}

/** Stands for a group where a run stands for its lines. */
export const idOfGroup = (value: string | null): string => `group ${JSON.stringify(value)}`

const buckets = 300

type View = { x: XAxis; xKey: string | null; range: Range }

export function useGroupLines(source: GroupSource | null, view: View, isInView: boolean) {
  const x = view.xKey === null ? view.x : 'step'
  const { xKey } = view
  const keys = [...(source?.keys ?? []), ...(xKey === null ? [] : [xKey])]
  const path = pathOfSeries(source?.project ?? '')
  const query = {
    ...{ group: source?.group, band: source?.band, q: source?.q, runs: source?.runs, buckets },
    ...rangeOfRuns(xKey === null ? view.range : null, x),
  }
  const read = useQuery({
    queryKey: [path, { keys: keysParameter(keys), ...query }],
    queryFn: ({ signal }) => readCurves(addressOf(path, query), keys, signal),
    enabled: isInView && source !== null && source.runs !== '',
    placeholderData: before => before,
  })
  const lines = useStable([read.data, x, xKey, source?.isHidden, source?.labelOf], () =>
    source === null ? [] : linesOf(read.data ?? [], source, { x, xKey }),
  )
  return {
    lines,
    isKnown: read.data !== undefined,
    isBehind: read.isLoading || read.isPlaceholderData,
    error: read.error,
  }
}

function linesOf(
  read: readonly KeyOfRuns[],
  { isHidden, labelOf, strokeOf, keys }: GroupSource,
  { x, xKey }: { x: XAxis; xKey: string | null },
): Line[] {
  const values = read[0]?.groups?.map(({ value }) => value) ?? []
  return values.flatMap((value, of) => {
    if (isHidden(value)) return []
    const lines = read.flatMap(one => {
      const curve = one.of.curves.find(found => found.of === of)
      if (curve === undefined) return []
      const at = (one.of.x[curve.x] ?? []).map(place => (x === 'step' ? place : place / 1000))
      const label = labelOf(value)
      const key = one.of.key
      const line: Line = {
        label: keys.length > 1 ? `${label} ${labelIn(keys, key)}` : label,
        runId: idOfGroup(value),
        stroke: strokeOf(value, values),
        ...{ x: at, min: curve.low ?? curve.mean, max: curve.high ?? curve.mean },
        ...{ value: curve.mean, nonfinite: [], isBucketed: true, isGroup: true },
        last: null,
      }
      return [line]
    })
    // A group without values of the axis has no place on it.
    if (xKey !== null && lines.length < read.length) return []
    return drawnOver(lines, xKey)
  })
}
