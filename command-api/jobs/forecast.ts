import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Outlook,
  oneFuture,
  type Range,
  rangesOf,
  seededRandom,
} from '../../events/calculations/queue-forecast.ts'

/** Jobs whose wait is forecast: the first of the queue. */
export const foreseenJobs = 500
const futures = 40
/** With at most this many jobs, waiting and running, a forecast takes a few milliseconds. */
const few = 60
/** How long the forecast of a longer queue is used, in milliseconds; it takes up to a second of processor time. */
const usedForMs = 15_000

/** The estimated waits of the jobs of an outlook, by job id; jobs without an estimate are missing. */
export type Waits = ReadonlyMap<string, Range>

/**
 * Forecasts of the queue. A short queue is forecast at once; a long one in the background, while requests get the previous
 * forecast. The same outlook always has the same forecast.
 */
export function createForecasts(failed: (error: unknown) => void) {
  let last: { at: number; waits: Waits } | null = null
  let isComputing = false
  const computeBeside = async (outlook: Outlook, ids: readonly string[], at: number) => {
    const found: number[][] = []
    for (let seed = 0; seed < futures; seed++) {
      found.push(oneFuture(outlook, seededRandom(seed)))
      await nextTurn()
    }
    last = { at, waits: waitsOf(outlook, ids, found) }
  }
  const startBeside = (outlook: Outlook, ids: readonly string[], at: number) => {
    if (isComputing) return
    isComputing = true
    computeBeside(outlook, ids, at)
      .catch(failed)
      .finally(() => {
        isComputing = false
      })
  }
  return {
    of(outlook: Outlook, ids: readonly string[], at: number): Waits {
      if (isSmall(outlook.waiting.length + outlook.running.length))
        return waitsOf(outlook, ids, futuresOf(outlook))
      if (last === null || at - last.at >= usedForMs || at < last.at) startBeside(outlook, ids, at)
      return last ? later(last.waits, at - last.at) : new Map()
    },
  }
}

/** Whether a queue of this many jobs, waiting and running, is forecast at once. */
export const isSmall = (jobs: number): boolean => jobs <= few

export const futuresOf = (outlook: Outlook): number[][] =>
  Array.from({ length: futures }, (_, seed) => oneFuture(outlook, seededRandom(seed)))

function waitsOf(
  outlook: Outlook,
  ids: readonly string[],
  found: readonly (readonly number[])[],
): Waits {
  const ranges = rangesOf(outlook, found)
  return new Map(
    ids.flatMap((id, index) => {
      const range = ranges[index]
      return range ? [[id, range] as const] : []
    }),
  )
}

/** For a forecast that was made a while ago. */
function later(waits: Waits, ms: number): Waits {
  const left = (seconds: number) => Math.max(0, Math.round(seconds - ms / 1000))
  return new Map([...waits].map(([id, { p50, p90 }]) => [id, { p50: left(p50), p90: left(p90) }]))
}
