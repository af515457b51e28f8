import stringWidth from 'string-width'
import { amount } from './amounts.ts'
import type { Point } from './series.ts'
import { padStart, truncate } from './width.ts'

export type ChartSize = {
  /** Columns and lines of the whole chart, including labels. */
  width: number
  height: number
  /** Logarithmic y axis; ignored if any value is not above 0. */
  log?: boolean
}

const smallest = { width: 16, height: 4 }
const dots = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const

/**
 * A line chart in braille dots, 2 × 4 per character, with the extremes on the left and the first and last step
 * below. If several points share a column, their whole span is drawn. A non-finite value breaks the line and
 * puts a × on the axis. Points must be sorted by step.
 */
export function lineChart(points: readonly Point[], size: ChartSize): string[] {
  const width = Math.max(smallest.width, size.width)
  const height = Math.max(smallest.height, size.height)
  const finite = points.filter(([, value]) => Number.isFinite(value))
  const [first] = finite
  const firstStep = points[0]?.[0] ?? 0
  const lastStep = points.at(-1)?.[0] ?? 0
  let low = first?.[1] ?? 0
  let high = low
  for (const [, value] of finite) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  const labels =
    first === undefined ? [] : axisLabels(low, high, height - 2, size.log === true && low > 0)
  const gutter = Math.max(1, ...labels.map(text => stringWidth(text)))
  const columns = width - gutter - 2
  const rows = height - 2
  const scaleY = valueScale(low, high, rows * 4 - 1, size.log === true && low > 0)
  const scaleX = (step: number) =>
    lastStep === firstStep
      ? 0
      : Math.round(((step - firstStep) / (lastStep - firstStep)) * (columns * 2 - 1))

  const canvas = Array.from({ length: rows }, () => new Uint8Array(columns))
  const marks = new Set<number>()
  let previous: [x: number, y: number] | null = null
  for (const [step, value] of points) {
    const x = scaleX(step)
    if (!Number.isFinite(value)) {
      marks.add(x >> 1)
      previous = null
      continue
    }
    const at: [number, number] = [x, rows * 4 - 1 - scaleY(value)]
    drawLine(canvas, previous ?? at, at)
    previous = at
  }
  return [
    ...canvas.map(
      (cells, row) =>
        `${padStart(labels[row] ?? '', gutter)} ${labels[row] ? '┤' : '│'}${braille(cells)}`,
    ),
    `${' '.repeat(gutter)} └${axis(columns, marks)}`,
    `${' '.repeat(gutter + 2)}${stepLabels(firstStep, lastStep, columns, points.length)}`,
  ].map(line => truncate(line, width))
}

function valueScale(low: number, high: number, top: number, log: boolean) {
  const from = log ? Math.log(low) : low
  const span = (log ? Math.log(high) : high) - from
  return (value: number) =>
    span === 0
      ? Math.round(top / 2)
      : Math.round((((log ? Math.log(value) : value) - from) / span) * top)
}

/** The highest value on top, the lowest at the bottom and, if there is room, the middle. */
function axisLabels(low: number, high: number, rows: number, log: boolean): string[] {
  const labels = Array.from({ length: rows }, () => '')
  const middle = Math.floor((rows - 1) / 2)
  if (low === high) labels[middle] = amount(low)
  else {
    if (rows >= 5 && rows % 2 === 1)
      labels[middle] = amount(log ? Math.sqrt(low * high) : low + (high - low) / 2, 3)
    labels[0] = amount(high)
    labels[rows - 1] = amount(low)
  }
  return labels
}

function drawLine(
  canvas: Uint8Array[],
  [fromX, fromY]: [number, number],
  [toX, toY]: [number, number],
) {
  const length = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY), 1)
  for (let i = 0; i <= length; i++) {
    const x = Math.round(fromX + ((toX - fromX) * i) / length)
    const y = Math.round(fromY + ((toY - fromY) * i) / length)
    const cells = canvas[y >> 2]
    const dot = dots[(y & 3) as 0 | 1 | 2 | 3][(x & 1) as 0 | 1]
    if (cells && x >> 1 < cells.length) cells[x >> 1] = (cells[x >> 1] ?? 0) | dot
  }
}

const braille = (cells: Uint8Array) =>
  Array.from(cells, bits => (bits === 0 ? ' ' : String.fromCharCode(0x2800 + bits))).join('')

const axis = (columns: number, marks: ReadonlySet<number>) =>
  Array.from({ length: columns }, (_, column) => (marks.has(column) ? '×' : '─')).join('')

function stepLabels(first: number, last: number, columns: number, count: number): string {
  if (count === 0) return truncate('no points yet', columns)
  const [left, right] = [String(first), String(last)]
  if (first === last) return truncate(`step ${left}`, columns)
  const between = columns - left.length - right.length
  const name = between >= 8 ? 'step' : ''
  if (between < 1) return padStart(truncate(right, columns), columns)
  const before = Math.floor((between - name.length) / 2)
  return left + ' '.repeat(before) + name + ' '.repeat(between - name.length - before) + right
}

const levels = '▁▂▃▄▅▆▇█'

/** One line of bars with the points spread by step over `width` columns; × marks a non-finite value. */
export function sparkline(points: readonly Point[], width: number): string {
  const firstStep = points[0]?.[0] ?? 0
  const span = (points.at(-1)?.[0] ?? 0) - firstStep
  const columns: { sum: number; count: number; broken: boolean }[] = Array.from(
    { length: Math.min(width, Math.max(1, points.length)) },
    () => ({ sum: 0, count: 0, broken: false }),
  )
  for (const [step, value] of points) {
    const at = span === 0 ? 0 : Math.floor(((step - firstStep) / span) * (columns.length - 1e-9))
    const column = columns[Math.min(at, columns.length - 1)]
    if (!column) continue
    if (!Number.isFinite(value)) column.broken = true
    else {
      column.sum += value
      column.count += 1
    }
  }
  const means = columns.filter(c => c.count > 0).map(c => c.sum / c.count)
  const low = Math.min(...means)
  const range = Math.max(...means) - low
  return columns
    .map(({ sum, count, broken }) => {
      if (broken) return '×'
      if (count === 0) return ' '
      const level =
        range === 0 ? 3 : Math.round(((sum / count - low) / range) * (levels.length - 1))
      return levels[level] ?? ' '
    })
    .join('')
}
