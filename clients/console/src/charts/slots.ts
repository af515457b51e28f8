import type { Line } from './series.ts'

/** The lines that a plot was made for, with which of them are shown now. */
export type Slots = { lines: readonly Line[]; shown: readonly boolean[] }

/**
 * How a plot that was made for some lines shows others: to hide a run of two hundred and to show it again is then a redraw,
 * not a new plot. `fewest`: plots of fewer lines differ in more than their lines, and are replaced.
 */
export function slotsFor(made: readonly Line[], lines: readonly Line[], fewest: number): Slots {
  const all = { lines, shown: lines.map(() => true) }
  const canHide = (one: Line) => one.stroke !== undefined && one.isGroup !== true
  // A plot that mostly hides is slower than a new one.
  if (lines.length < fewest || 2 * lines.length < made.length || !lines.every(canHide)) return all
  const byName = new Map(lines.map(line => [nameOf(line), line]))
  const now = made.map(line => byName.get(nameOf(line)))
  if (now.filter(Boolean).length < lines.length) return all
  return {
    lines: made.map((line, nth) => now[nth] ?? line),
    shown: now.map(line => line !== undefined),
  }
}

const nameOf = ({ runId, label, stroke }: Line) => JSON.stringify([runId, label, stroke])
