export const panelLimits = {
  panels: 40,
  /** Metrics in a chart, and axes of parallel coordinates. */
  keys: 12,
  /** Characters of a note in Markdown. */
  note: 2_000,
  /** Columns of the grid in which panels lie, and rows that a panel may take. */
  columns: 6,
  rows: 3,
} as const
