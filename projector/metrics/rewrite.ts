import { chunkPoints, cut, indexOfStep, type Series, slice } from '../../platform/series/chunk.ts'
import { resolve } from '../../platform/series/merge.ts'
import { at } from '../../platform/series/varint.ts'

/** Step range and size of a stored chunk. */
export type Place = { first_step: number; last_step: number; count: number }

/** New points of one key and the chunk they are merged into; null if they form new chunks. */
export type Rewrite = { into: Place | null; points: Series }

/** A last chunk this full is not rewritten when all new points come after it. */
const fullPoints = (chunkPoints * 3) / 4

/**
 * The stored chunks affected by a resolved series of new points. `chunks` are those of the key, in order, starting
 * with the one before its first step; only chunks with a new point in their range are rewritten.
 */
export function planRewrites(chunks: readonly Place[], points: Series): Rewrite[] {
  const rewrites: Rewrite[] = []
  let from = 0
  for (const [i, chunk] of chunks.entries()) {
    const end = indexOfStep(
      points.steps,
      chunks[i + 1]?.first_step ?? Number.POSITIVE_INFINITY,
      from,
    )
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

/** The chunks that replace `stored` (null: nothing) after adding the points. */
export const rewrite = (stored: Series | null, points: Series): Series[] =>
  cut(stored ? resolve([stored, points]) : points)
