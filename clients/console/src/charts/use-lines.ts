import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { addressOf } from '../session/api.ts'
import { request } from '../session/session.ts'
import { batched } from './batch.ts'
import { over } from './over.ts'
import { type Part, partsFor } from './parts.ts'
import {
  type KeyOfRuns,
  pathOfSeries,
  rangeOfRuns,
  readCurves,
  seriesOfRun,
} from './project-series.ts'
import {
  boundariesOf,
  keysParameter,
  type Line,
  labelIn,
  lineOf,
  type MetricSeries,
  type XAxis,
} from './series.ts'
import type { Stroke } from './stroke.ts'
import type { Range } from './zoom.ts'

/** The keys of one run that a chart shows. `label` names them where several runs share it. */
export type Source = {
  runId: string
  startMs: number
  keys: readonly string[]
  label?: string
  /** How its lines are drawn; if absent, by their places in the chart. */
  stroke?: Stroke
  /** When attempts after the first began, in milliseconds of the epoch. */
  attempts?: readonly number[]
  /** The project of all sources of a chart, if they may be read in one request. */
  project?: string
}

export const pathOfMetrics = (runId: string): string =>
  `/api/runs/${encodeURIComponent(runId)}/metrics`

/** One point for each pixel or two; fewer if a chart has many lines, which could not be told apart anyway. */
const bucketsFor = (lines: number): number => (lines > 50 ? 100 : lines > 4 ? 200 : 600)

/** Charts that come into view together are read together, with few enough keys at once that the first arrive soon. */
const readSeries = batched<MetricSeries>(
  (place, keys, signal) => {
    const [path = '', query = ''] = place.split('?')
    const asked = Object.fromEntries(new URLSearchParams(query))
    return request('GET', addressOf(path, { keys: keysParameter(keys), ...asked }), { signal })
  },
  { most: 40, waitMs: 5 },
)

type View = { x: XAxis; xKey: string | null; range: Range }

/** The lines of a chart in a range of its axis, read while it is in view; the previous range stays until the new one arrives. */
export function useLines(sources: readonly Source[], view: View, isInView: boolean) {
  const x = view.xKey === null ? view.x : 'step'
  const { xKey } = view
  const asked =
    xKey === null ? sources : sources.map(one => ({ ...one, keys: [...one.keys, xKey] }))
  const range = xKey === null ? view.range : null
  const { found, isBehind, error } = useFound(asked, { x, range }, isInView)
  const identity = asked.map(({ runId, keys }) => `${runId} ${keys.join()}`).join(' ')
  const read = usePaced(found, { isBehind, identity })
  const made = useStable([x, xKey, ...sources.map(({ startMs }) => startMs), ...read], () => ({
    lines: asked.flatMap((source, nth) =>
      drawnOver(linesOf(read[nth], source, x, sources.length > 1), xKey),
    ),
    boundaries:
      xKey !== null
        ? []
        : sources.flatMap(({ attempts = [], startMs }, nth) =>
            boundariesOf(read[nth] ?? [], attempts, x, startMs),
          ),
  }))
  return { ...made, isKnown: read.some(one => one !== undefined), isBehind, error }
}

/** The lines of a run without the last one, which is their axis. */
export function drawnOver(lines: readonly Line[], xKey: string | null): Line[] {
  const axis = lines.at(-1)
  if (xKey === null || axis === undefined) return [...lines]
  return lines.slice(0, -1).map(line => over(line, axis))
}

/** More runs than this are read in one request, without their extremes, for which a chart has no room then. */
const mostAlone = 3

/** The series read for each source. `isBehind`: the requested lines differ from the loaded ones. */
function useFound(
  sources: readonly Source[],
  { x, range }: { x: XAxis; range: Range },
  isInView: boolean,
) {
  const buckets = bucketsFor(sources.reduce((sum, { keys }) => sum + keys.length, 0))
  const isMany = sources.length > mostAlone
  const alone = sources.filter(({ project }) => !isMany || project === undefined)
  const reads = useQueries({
    queries: alone.map(({ runId, startMs, keys }) => {
      const query = { buckets, ...rangeOf(range, x, startMs) }
      return {
        queryKey: [pathOfMetrics(runId), { keys: keysParameter(keys), ...query }],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          readSeries(addressOf(pathOfMetrics(runId), query), keys, signal),
        enabled: isInView,
      }
    }),
  })
  const projects = isMany
    ? [...Map.groupBy(sources, ({ project }) => project)].flatMap(([project, of]) =>
        project === undefined ? [] : [{ project, of }],
      )
    : []
  const parts = useParts(projects, { buckets, ...rangeOfRuns(range, x) })
  const together = useQueries({
    queries: parts.map(({ project, keys, runs, ...rest }) => {
      const path = pathOfSeries(project)
      const query = { runs: runs.join(), ...rest }
      return {
        queryKey: [path, { keys: keysParameter(keys), ...query }],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          readCurves(addressOf(path, query), keys, signal),
        enabled: isInView,
        // Runs that were shown before stay while others are read.
        placeholderData: (before: KeyOfRuns[] | undefined) => before,
      }
    }),
  })
  const ids = sources.map(({ runId }) => runId).join()
  const ofProjects = useStable([...together.map(({ data }) => data), ids, x], () => {
    const found = new Map<string, MetricSeries[]>()
    const startOf = new Map(sources.map(({ runId, startMs }) => [runId, startMs]))
    for (const [nth, { runs }] of parts.entries())
      for (const runId of runs) {
        const startMs = startOf.get(runId)
        const data = together[nth]?.data
        if (startMs === undefined || data === undefined) continue
        found.set(
          runId,
          data.flatMap(one => seriesOfRun(one, runId, { x, startMs }) ?? []),
        )
      }
    return found
  })
  const ofAlone = new Map(alone.map((source, nth) => [source, reads[nth]?.data]))
  const all = [...reads, ...together]
  return {
    found: sources.map(source =>
      ofAlone.has(source) ? ofAlone.get(source) : ofProjects.get(source.runId),
    ),
    isBehind:
      reads.some(({ isLoading }) => isLoading) ||
      together.some(({ isLoading, isPlaceholderData }) => isLoading || isPlaceholderData),
    error: all.find(({ error }) => error !== null)?.error ?? null,
  }
}

type OfProject = { project: string; of: readonly Source[] }
type Asked = ReturnType<typeof rangeOfRuns> & { buckets: number }

/** The requests for the curves of many runs; the same as before wherever that is possible. */
function useParts(projects: readonly OfProject[], asked: Asked) {
  const kept = useRef(new Map<string, readonly Part[]>())
  const all = projects.map(({ project, of }) => {
    const keys = of[0]?.keys ?? []
    const name = JSON.stringify([project, keys, asked])
    const wanted = of.map(({ runId }) => runId)
    return { project, keys, name, parts: partsFor(kept.current.get(name) ?? [], wanted) }
  })
  kept.current = new Map(all.map(({ name, parts }) => [name, parts]))
  return all.flatMap(({ project, keys, parts }) =>
    parts.map(runs => ({ project, keys, runs, ...asked })),
  )
}

/** While runs arrive one after the other, a chart of many is not redrawn for each. */
const paceMs = 250

/**
 * The current values, or while some are loading, those of up to `paceMs` ago. A value that is missing keeps its previous one,
 * e.g. in the range before a zoom, as long as it belongs to the same thing.
 */
function usePaced<T>(
  values: (T | undefined)[],
  { isBehind, identity }: { isBehind: boolean; identity: string },
): (T | undefined)[] {
  const held = useRef({ identity, values })
  const newest = useRef(values)
  newest.current = values
  if (!isBehind || held.current.identity !== identity) held.current = { identity, values }
  const [, draw] = useState(0)
  useEffect(() => {
    if (!isBehind) return
    const timer = setInterval(() => {
      const { values: before } = held.current
      held.current = {
        ...held.current,
        values: newest.current.map((value, nth) => value ?? before[nth]),
      }
      draw(n => n + 1)
    }, paceMs)
    return () => clearInterval(timer)
  }, [isBehind])
  return held.current.values
}

function rangeOf(range: Range, x: XAxis, startMs: number) {
  if (x === 'step')
    return range === null ? {} : { from: Math.floor(range.from), to: Math.ceil(range.to) }
  const inMs = (value: number) => Math.round((x === 'time' ? 0 : startMs) + value * 1000)
  return { x: 'time', ...(range && { from: inMs(range.from), to: inMs(range.to) }) }
}

/** A line for each key, empty until it is read, so that each keeps its place and its colour. */
function linesOf(
  read: readonly MetricSeries[] | undefined,
  source: Source,
  x: XAxis,
  isShared: boolean,
): Line[] {
  const { keys, label = '' } = source
  return keys.map(key => {
    const own = labelIn(keys, key)
    const name = isShared ? (keys.length > 1 ? `${label} ${own}` : label) : own
    const found = read?.find(one => one.key === key)
    return found ? keptLine(found, source, name, x) : newLine({ ...nothing, key }, source, name, x)
  })
}

type Kept = { from: readonly unknown[]; line: Line }
const keptLines = new WeakMap<MetricSeries, Kept>()

/** The same line until something in it changes: a plot then need not take up its data again. */
function keptLine(series: MetricSeries, source: Source, name: string, x: XAxis): Line {
  const { runId, startMs, stroke } = source
  const from = [name, x, runId, startMs, stroke?.token, stroke?.dash.join()]
  const before = keptLines.get(series)
  if (before && from.every((one, nth) => one === before.from[nth])) return before.line
  const line = newLine(series, source, name, x)
  keptLines.set(series, { from, line })
  return line
}

const newLine = (
  series: MetricSeries,
  { runId, startMs, stroke }: Source,
  name: string,
  x: XAxis,
): Line => ({ ...lineOf(series, name, x, startMs), runId, ...(stroke && { stroke }) })

const nothing = { bucketed: false, points: [], nonfinite: [] }

/** Returns the same object until one of its inputs changes: a chart is redrawn for each new one. */
export function useStable<T>(from: readonly unknown[], make: () => T): T {
  const kept = useRef<{ from: readonly unknown[]; made: T } | null>(null)
  const before = kept.current
  const isSame =
    before?.from.length === from.length &&
    from.every((one, nth) => sameValue(one, before.from[nth]))
  if (before && isSame) return before.made
  const made = make()
  kept.current = { from, made }
  return made
}

const sameValue = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0)
