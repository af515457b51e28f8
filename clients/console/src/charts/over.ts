import { lastUpTo } from './nearest.ts'
import type { Line } from './series.ts'

type Placed = Pick<Line, 'x' | 'value'>

/** A line drawn over another metric, each point at the last value of that metric up to it, in the order of these values. */
export function over<L extends Line>(line: L, axis: Placed): L {
  const places = new Map<number, number>()
  for (const [nth, x] of line.x.entries()) {
    const place = axis.value[lastUpTo(axis.x, x)]
    if (place != null) places.set(place, nth)
  }
  const order = [...places].sort(([a], [b]) => a - b)
  const picked = <T>(of: readonly T[]) => order.flatMap(([, nth]) => of.slice(nth, nth + 1))
  return {
    ...line,
    x: order.map(([place]) => place),
    ...{ min: picked(line.min), max: picked(line.max), value: picked(line.value) },
    nonfinite: [],
  }
}
