export type Point = readonly [step: number, value: number]

/** Points kept per metric; a terminal shows a few hundred. */
const capacity = 4096

/**
 * The points of one metric for a chart: sorted by step, a repeated step replaces the earlier value, and beyond
 * the capacity neighbours are merged so that all extremes are kept.
 */
export class Series {
  #points: Point[] = []
  #count = 0
  #last: Point | null = null

  add(step: number, value: number): void {
    const at = this.#insertion(step)
    const there = this.#points[at]
    if (there?.[0] === step) this.#points[at] = [step, value]
    else {
      this.#points.splice(at, 0, [step, value])
      this.#count += 1
    }
    if (this.#last === null || step >= this.#last[0]) this.#last = [step, value]
    if (this.#points.length > capacity) this.#points = halved(this.#points)
  }

  get points(): readonly Point[] {
    return this.#points
  }

  /** The point with the highest step. */
  get last(): Point | null {
    return this.#last
  }

  get count(): number {
    return this.#count
  }

  /** Extremes of the finite values; null if there are none. */
  range(): { min: number; max: number } | null {
    const finite = this.#points.map(([, value]) => value).filter(Number.isFinite)
    return finite.length === 0
      ? null
      : {
          min: finite.reduce((a, b) => Math.min(a, b)),
          max: finite.reduce((a, b) => Math.max(a, b)),
        }
  }

  #insertion(step: number): number {
    let low = 0
    let high = this.#points.length
    if (high > 0 && (this.#points[high - 1]?.[0] ?? 0) < step) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#points[middle]?.[0] ?? 0) < step) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Keeps the lowest and highest of every four points, and every non-finite value. */
function halved(points: readonly Point[]): Point[] {
  const kept: Point[] = []
  for (let start = 0; start < points.length; start += 4) {
    const group = points.slice(start, start + 4)
    const finite = group.filter(([, value]) => Number.isFinite(value))
    const [first] = finite
    if (first !== undefined) {
      const lowest = finite.reduce((a, b) => (b[1] < a[1] ? b : a), first)
      const highest = finite.reduce((a, b) => (b[1] > a[1] ? b : a), first)
      kept.push(...(lowest === highest ? [lowest] : [lowest, highest].sort((a, b) => a[0] - b[0])))
    }
    kept.push(...group.filter(([, value]) => !Number.isFinite(value)).slice(0, 1))
  }
  return kept.sort((a, b) => a[0] - b[0])
}
