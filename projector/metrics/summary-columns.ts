import { float8Array, int8Array } from '../../platform/postgres/arrays.ts'
import type { Summary } from '../../platform/series/chunk.ts'

/** Converts one field of each summary to an integer array parameter. */
export const intsOf =
  (summaries: readonly Summary[]) =>
  (of: (summary: Summary) => number): Buffer =>
    int8Array(summaries.map(of))

/** The columns `count, nonfinite, min, max, sum, last`. */
export function valueColumns(summaries: readonly Summary[]): Buffer[] {
  const ints = intsOf(summaries)
  const floats = (of: (summary: Summary) => number) => float8Array(summaries.map(of))
  return [
    ints(s => s.count),
    ints(s => s.nonfinite),
    // Without finite values there is no minimum; NaN stands for null in the parameters.
    floats(s => s.min ?? Number.NaN),
    floats(s => s.max ?? Number.NaN),
    floats(s => s.sum),
    floats(s => s.last),
  ]
}
