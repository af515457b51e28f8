/** Series for each line: minimum, maximum, the line, and the smoothed line. */
export const seriesOfLine = 4
/** The series that the legend names. */
export const linePart = 2

/** A legend of more lines would take more room than the chart. */
export const mostInLegend = 20

type Lines = { lines: readonly { isGroup?: boolean }[] }

/** A line of so many is lifted without drawing the others again. */
export const isCrowded = ({ lines }: Lines): boolean =>
  lines.length > mostInLegend && lines.every(({ isGroup }) => isGroup !== true)

/** Without a GPU, lines of more than one pixel take ten times as long to draw. */
export const widthIn = (drawing: Lines, usual: number, pixelRatio: number): number =>
  isCrowded(drawing) ? 1 / pixelRatio : usual
