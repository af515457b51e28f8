/** A score, with its standard error if that was reported. */
export type Measured = { value: number; stderr: number | null }

export type Compared = {
  /** `to` minus `from`. */
  delta: number
  /** The standard error of `delta`; null if neither score has one. */
  stderr: number | null
  isNoWorse: boolean
  /** Worse by more than one standard error; without one, any loss counts. */
  isWorse: boolean
}

export function compareScores(from: Measured, to: Measured, isHigherBetter: boolean): Compared {
  const delta = rounded(to.value - from.value)
  const isKnown = from.stderr !== null || to.stderr !== null
  const stderr = isKnown ? rounded(Math.hypot(from.stderr ?? 0, to.stderr ?? 0)) : null
  const loss = isHigherBetter ? -delta : delta
  return { delta, stderr, isNoWorse: loss <= 0, isWorse: loss > (stderr ?? 0) }
}

/** Without the last digits, in which 0.7 - 0.6 differs from 0.1. */
const rounded = (value: number): number => Number(value.toPrecision(12))
