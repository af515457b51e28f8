import type { Curve, Grid } from './grid.ts'

export type Axis = 'step' | 'time' | 'relative'

/** `startMs`: where relative time begins. */
export type RunToDraw = { runId: string; startMs: number }

export type CurvesAsked = {
  runs: readonly RunToDraw[]
  keys: readonly string[]
  axis: Axis
  /** Both included; infinite for no limit. */
  from: number
  to: number
  /** Maximum for each curve. */
  buckets: number
  withExtremes: boolean
}

/** `curves` in the order of the runs, null for a run without points; a null grid has none. */
export type CurvesOfKey = { key: string; grid: Grid | null; curves: (Curve | null)[] }
