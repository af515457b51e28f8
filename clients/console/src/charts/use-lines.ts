import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { addressOf } from '../session/api.ts'
import { request } from '../session/session.ts'
import { batched } from './batch.ts'
import type { Stroke } from './colours.ts'
import { pathOfSeries, rangeOfRuns, readCurves, seriesOfRun } from './project-series.ts'
import {
  boundariesOf,
  keysParameter,
  type Line,
  labelIn,
  lineOf,
  type MetricSeries,
  type XAxis,
} from './series.ts'
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
const bucketsFor = (lines: number): number => (lines > 4 ? 200 : 600)

/** Charts that come into view together are read together, with few enough keys at once that the first arrive soon. */
const readSeries = batched<MetricSeries>(
  (place, keys, signal) => {
    const [path = '', query = ''] = place.split('?')
    const asked = Object.fromEntries(new URLSearchParams(query))
    return request('GET', addressOf(path, { keys: keysParameter(keys), ...asked }), { signal })
  },
  { most: 40, waitMs: 5 },
)

/** The lines of a chart in a range of its axis, read while it is in view; the previous range stays until the new one arrives. */
export function useLines(
  sources: readonly Source[],
  view: { x: XAxis; range: Range },
  isInView: boolean,
) {
  const { x } = view
  const { found, isBehind, error } = useFound(sources, view, isInView)
  const identity = sources.map(({ runId, keys }) => `${runId} ${keys.join()}`).join(' ')
  const read = usePaced(found, { isBehind, identity })
  const made = useStable([x, ...sources.map(({ startMs }) => startMs), ...read], () => ({
    lines: sources.flatMap((source, nth) => linesOf(read[nth], source, x, sources.length > 1)),
    boundaries: sources.flatMap(({ attempts = [], startMs }, nth) =>
      boundariesOf(read[nth] ?? [], attempts, x, startMs),
    ),
  }))
  return { ...made, isKnown: read.some(one => one !== undefined), isBehind, error }
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
  const project = sources.length > mostAlone ? sources[0]?.project : undefined
  const reads = useQueries({
    queries: (project === undefined ? sources : []).map(({ runId, startMs, keys }) => {
      const query = { buckets, ...rangeOf(range, x, startMs) }
      return {
        queryKey: [pathOfMetrics(runId), { keys: keysParameter(keys), ...query }],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          readSeries(addressOf(pathOfMetrics(runId), query), keys, signal),
        enabled: isInView,
      }
    }),
  })
  const path = pathOfSeries(project ?? '')
  const keys = sources[0]?.keys ?? []
  const query = {
    runs: sources.map(({ runId }) => runId).join(),
    buckets,
    ...rangeOfRuns(range, x),
  }
  const together = useQuery({
    queryKey: [path, { keys: keysParameter(keys), ...query }],
    queryFn: ({ signal }) => readCurves(addressOf(path, query), keys, signal),
    enabled: isInView && project !== undefined,
    // Runs that were shown before stay while others are read.
    placeholderData: before => before,
  })
  const ofProject = useStable([together.data, query.runs, x], () =>
    sources.map(({ runId, startMs }) =>
      together.data?.flatMap(one => seriesOfRun(one, runId, { x, startMs }) ?? []),
    ),
  )
  if (project === undefined)
    return {
      found: reads.map(({ data }) => data),
      isBehind: reads.some(({ isLoading }) => isLoading),
      error: reads.find(({ error }) => error !== null)?.error ?? null,
    }
  return {
    found: ofProject,
    isBehind: together.isLoading || together.isPlaceholderData,
    error: together.error,
  }
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
  { runId, stroke, keys, label = '', startMs }: Source,
  x: XAxis,
  isShared: boolean,
): Line[] {
  return keys.map((key, nth) => {
    const own = labelIn(keys, key)
    const name = isShared ? (keys.length > 1 ? `${label} ${own}` : label) : own
    const line = lineOf(read?.[nth] ?? { ...nothing, key }, name, x, startMs)
    return { ...line, runId, ...(stroke && { stroke }) }
  })
}

const nothing = { bucketed: false, points: [], nonfinite: [] }

/** Returns the same object until one of its inputs changes: a chart is redrawn for each new one. */
function useStable<T>(from: readonly unknown[], make: () => T): T {
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
