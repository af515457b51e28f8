import type { BucketPoint } from '../../platform/series/buckets.ts'

export type Drawn = {
  /** False when each point is a single reported value. */
  bucketed: boolean
  points: BucketPoint[]
  /** `[step, count]` of points that contain non-finite values. */
  nonfinite: [step: number, count: number][]
}

/** Maximum total bytes; about a thousand curves. */
const most = 32 * 1024 * 1024
/** Approximate size of a point, and the overhead of a series, in bytes. */
const pointBytes = 96
const seriesBytes = 400

/**
 * An LRU cache of computed series: reloading a page, or a colleague opening the same one, decodes nothing again. The
 * name of a series includes everything it was computed from, so that entries never become stale.
 */
export class KeptSeries {
  readonly #kept = new Map<string, { drawn: Drawn; bytes: number }>()
  readonly #most: number
  #bytes = 0

  constructor(mostBytes = most) {
    this.#most = mostBytes
  }

  get(name: string): Drawn | null {
    const known = this.#kept.get(name)
    if (!known) return null
    // The most recently used entry is last.
    this.#kept.delete(name)
    this.#kept.set(name, known)
    return known.drawn
  }

  keep(name: string, drawn: Drawn): void {
    const bytes =
      seriesBytes + 2 * name.length + pointBytes * (drawn.points.length + drawn.nonfinite.length)
    if (bytes > this.#most / 8 || this.#kept.has(name)) return
    this.#kept.set(name, { drawn, bytes })
    this.#bytes += bytes
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#bytes <= this.#most) return
      this.#kept.delete(oldest)
      this.#bytes -= freed
    }
  }
}
