import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { addressOf } from '../session/api.ts'
import { request } from '../session/session.ts'
import { batched } from './batch.ts'
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
  /** When attempts after the first began, in milliseconds of the epoch. */
  attempts?: readonly number[]
}

export const pathOfMetrics = (runId: string): string =>
  `/api/runs/${encodeURIComponent(runId)}/metrics`

/** A point a pixel or two; of many lines in one chart fewer, as nobody could tell them apart. */
const bucketsFor = (lines: number): number => (lines > 4 ? 200 : 600)

/** Charts that come into view together are read together; few enough keys at once that the first are soon there. */
const readSeries = batched<MetricSeries>(
  (place, keys, signal) => {
    const [path = '', query = ''] = place.split('?')
    const asked = Object.fromEntries(new URLSearchParams(query))
    return request('GET', addressOf(path, { keys: keysParameter(keys), ...asked }), { signal })
  },
  { most: 40, waitMs: 5 },
)

/** The lines of a chart in a range of its axis, read while it is in view; until another range is there, those of before. */
export function useLines(
  sources: readonly Source[],
  { x, range }: { x: XAxis; range: Range },
  isInView: boolean,
) {
  const buckets = bucketsFor(sources.reduce((sum, { keys }) => sum + keys.length, 0))
  const reads = useQueries({
    queries: sources.map(({ runId, startMs, keys }) => {
      const query = { buckets, ...rangeOf(range, x, startMs) }
      return {
        queryKey: [pathOfMetrics(runId), { keys: keysParameter(keys), ...query }],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          readSeries(addressOf(pathOfMetrics(runId), query), keys, signal),
        enabled: isInView,
      }
    }),
  })
  /** Whether other lines were asked for than are there. */
  const isBehind = reads.some(({ isLoading }) => isLoading)
  const identity = sources.map(({ runId, keys }) => `${runId} ${keys.join()}`).join(' ')
  const read = usePaced(
    reads.map(({ data }) => data),
    { isBehind, identity },
  )
  const made = useStable([x, ...sources.map(({ startMs }) => startMs), ...read], () => ({
    lines: sources.flatMap((source, nth) => linesOf(read[nth], source, x, sources.length > 1)),
    boundaries: sources.flatMap(({ attempts = [], startMs }, nth) =>
      boundariesOf(read[nth] ?? [], attempts, x, startMs),
    ),
  }))
  return {
    ...made,
    isKnown: read.some(one => one !== undefined),
    isBehind,
    error: reads.find(({ error }) => error !== null)?.error ?? null,
  }
}

/** While runs arrive one after the other, a chart of many is not drawn again for each. */
const paceMs = 250

/**
 * The values of now, or while some are on their way those of up to `paceMs` ago. One that is not there yet is as it was
 * before, e.g. in the range before a zoom, as long as it is of the same thing.
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

/** A line for each key, empty until it was read: each keeps its place, and with it its colour. */
function linesOf(
  read: readonly MetricSeries[] | undefined,
  { keys, label = '', startMs }: Source,
  x: XAxis,
  isShared: boolean,
): Line[] {
  return keys.map((key, nth) => {
    const own = labelIn(keys, key)
    const name = isShared ? (keys.length > 1 ? `${label} ${own}` : label) : own
    return lineOf(read?.[nth] ?? { ...nothing, key }, name, x, startMs)
  })
}

const nothing = { bucketed: false, points: [], nonfinite: [] }

/** The same as before until something of what it was made from changes: a chart is drawn again for each new one. */
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
