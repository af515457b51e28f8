import type uPlot from 'uplot'
import { colourOf, curveOf } from './colours.ts'
import type { Line } from './series.ts'
import { linePart, seriesOfLine } from './uplot-series.ts'

type Drawn = { lines: readonly Line[]; smoothing: number; lifted: string | null }

/**
 * Draws the lifted lines over the plot, behind a veil over the others: to draw hundreds of lines fainter takes too long to follow
 * the mouse.
 */
export function drawLifted(plot: uPlot, { lines, smoothing, lifted }: Drawn): void {
  const sheet = sheetOf(plot)
  const first = (nth: number) => 1 + nth * seriesOfLine
  const own = [...lines.keys()].filter(
    nth => lines[nth]?.runId === lifted && plot.series[first(nth) + linePart]?.show !== false,
  )
  sheet.hidden = own.length === 0
  const context = sheet.getContext('2d')
  if (sheet.hidden || context === null) return
  const { width, height } = plot.bbox
  Object.assign(sheet, { width, height })
  for (const nth of own) {
    const { stroke } = lines[nth] ?? {}
    context.strokeStyle = stroke ? colourOf(stroke.token) : curveOf(nth)
    context.lineWidth = 2 * devicePixelRatio
    context.setLineDash((stroke?.dash ?? []).map(length => length * devicePixelRatio))
    trace(context, plot, first(nth) + linePart + (smoothing > 0 ? 1 : 0))
  }
}

/** Through all values: undefined belongs to other lines, null interrupts the line. */
function trace(context: CanvasRenderingContext2D, plot: uPlot, series: number): void {
  const { left, top } = plot.bbox
  const [xs, values = []] = [plot.data[0], plot.data[series]]
  let isDown = false
  context.beginPath()
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue
    if (value !== null) {
      const x = plot.valToPos(xs[at] ?? 0, 'x', true) - left
      const y = plot.valToPos(value, 'y', true) - top
      if (isDown) context.lineTo(x, y)
      else context.moveTo(x, y)
    }
    isDown = value !== null
  }
  context.stroke()
}

const name = 'forge-lifted'

function sheetOf({ over }: uPlot): HTMLCanvasElement {
  const known = over.querySelector<HTMLCanvasElement>(`.${name}`)
  if (known) return known
  const sheet = document.createElement('canvas')
  sheet.className = name
  // The tooltip stays on top.
  over.prepend(sheet)
  return sheet
}
