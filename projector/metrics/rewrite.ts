import { chunkPoints, cut, type Series, slice } from '../../platform/series/chunk.ts'
import { resolve } from '../../platform/series/merge.ts'
import { at } from '../../platform/series/varint.ts'

/** Where a stored chunk stands. */
export type Place = { first_step: number; last_step: number; count: number }

/** New points of one key and the chunk they go into; null where they become chunks of their own. */
export type Rewrite = { into: Place | null; points: Series }

/** A last chunk this full is left alone when all that comes lies behind it. */
const fullPoints = (chunkPoints * 3) / 4

/**
 * Which stored chunks a resolved series of new points touches. `chunks` are those of the key from the one
 * before its first step on, in order; only those in whose range a point lies are rewritten.
 */
export function planRewrites(chunks: readonly Place[], points: Series): Rewrite[] {
  const rewrites: Rewrite[] = []
  let from = 0
  for (const [i, chunk] of chunks.entries()) {
    const end = endOfPart(points.steps, from, chunks[i + 1]?.first_step ?? Number.POSITIVE_INFINITY)
    if (end === from) continue
    const part = slice(points, from, end)
    const isBehind = at(points.steps, from) > chunk.last_step
    const leftAlone = isBehind && chunk.count >= fullPoints
    rewrites.push({ into: leftAlone ? null : chunk, points: part })
    from = end
  }
  if (from < points.steps.length)
    rewrites.push({ into: null, points: slice(points, from, points.steps.length) })
  return rewrites
}

/** The first index from `from` on whose step is at or past `step`. */
function endOfPart(steps: Float64Array, from: number, step: number): number {
  let low = from
  let high = steps.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(steps, middle) < step) low = middle + 1
    else high = middle
  }
  return low
}

/** The chunks that take the place of `stored` (null: of none) once the points are in it. */
export const rewrite = (stored: Series | null, points: Series): Series[] =>
  cut(stored ? resolve([stored, points]) : points)
