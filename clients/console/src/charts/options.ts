import uPlot from 'uplot'
import { axisNumber, lengthOf } from '../words/amounts.ts'
import { colourOf, curveOf, faint } from './colours.ts'
import { increments } from './increments.ts'
import { drawLifted } from './lifted.ts'
import { isPan, pan } from './pan.ts'
import { blurred, type Line, smoothed } from './series.ts'
import { tip } from './tip.ts'
import { isCrowded, linePart, mostInLegend, seriesOfLine, widthIn } from './uplot-series.ts'
import { type ChartView, drawableLimits } from './view.ts'

export type Drawing = ChartView & {
  lines: readonly Line[]
  /** Where attempts after the first begin, in axis positions. */
  boundaries: readonly number[]
  /** The run whose lines stand out; null: all alike. */
  lifted: string | null
}

export type PlotActions = {
  onZoom: (range: { from: number; to: number } | null) => void
  /** The run whose line is under the cursor. */
  onHover: (runId: string | null) => void
}

type Acts = {
  zoom: PlotActions['onZoom']
  hover: PlotActions['onHover']
  /** The chart alone shows this part of the axis, while the mouse moves it. */
  pan: (range: { from: number; to: number }) => void
}

/** Bands of more lines would hide each other. */
export const mostBands = 3
const hasBands = (lines: readonly Line[]) => lines.length <= mostBands
const isInLegend = (lines: readonly Line[]) =>
  lines.length > 1 && lines.length <= mostInLegend && lines.every(({ stroke }) => !stroke)

const colourOfLine = (line: Line | undefined, nth: number): string =>
  line?.stroke ? colourOf(line.stroke.token) : curveOf(nth)

/** All lines on one list of positions; missing values are undefined, non-finite ones null. */
export function dataOf({ lines, smoothing, filter, isLogX }: Drawing): uPlot.AlignedData {
  if (lines.length === 0) return [[]]
  const smooth = filter === 'gaussian' ? blurred : smoothed
  const tables = lines
    .map(line => (isLogX ? positive(line) : line))
    .map(
      ({ x, min, max, value }): uPlot.AlignedData => [
        x,
        min,
        max,
        value,
        smoothing > 0 ? smooth(value, smoothing) : value,
      ],
    )
  return tables.length === 1 ? (tables[0] as uPlot.AlignedData) : uPlot.join(tables)
}

/** A logarithmic axis has no place for zero. */
function positive(line: Line): Line {
  const from = line.x.findIndex(x => x > 0)
  const rest = <T>(of: readonly T[]) => (from < 0 ? [] : of.slice(from))
  return {
    ...line,
    ...{ x: rest(line.x), min: rest(line.min), max: rest(line.max), value: rest(line.value) },
  }
}

type Ref<T> = { current: T }

export function optionsOf(
  drawing: Ref<Drawing>,
  { width, height }: { width: number; height: number },
  { zoom, hover, pan: move }: Acts,
): uPlot.Options {
  const { lines, x, xKey, isLog, isLogX } = drawing.current
  const isTime = x === 'time' && xKey === null
  const grid = { stroke: colourOf('line'), width: 1 }
  const axis = {
    stroke: colourOf('soft'),
    grid,
    ticks: grid,
    font: '12px "Geist Variable", system-ui',
  }
  return {
    width,
    height,
    // The last label of times is wider than others.
    padding: [8, isTime ? 28 : 12, 0, 0],
    scales: {
      x: { time: isTime, range: rangeOf(drawing), ...(isLogX && { distr: 3 }) },
      y: { ...(isLog && { distr: 3 }), ...limitsOf(drawing.current) },
    },
    axes: [
      {
        ...axis,
        size: 32,
        ...(!isTime && !isLogX && { values: labelsOf(drawing.current) }),
      },
      { ...axis, size: 64, ...(isLog ? {} : { values: axisLabels, incrs: [...increments] }) },
    ],
    cursor: cursorOf(drawing.current, zoom),
    // A single line is named by the title, more lines by the tooltip or by a list next to the charts. The tooltip shows the values.
    legend: { show: isInLegend(lines), live: false },
    plugins: [
      tip(drawing, { hover }),
      pan({ isLog: () => drawing.current.isLogX, onMove: move, onEnd: zoom }),
    ],
    bands: lines.flatMap((line, nth) =>
      hasBands(lines) || line.isGroup === true
        ? [
            {
              series: [1 + nth * seriesOfLine + 1, 1 + nth * seriesOfLine] as uPlot.Band.Bounds,
              // With many groups, only the lifted group shows its band.
              fill: () =>
                hasBands(lines) || drawing.current.lifted === line.runId
                  ? faint(colourOfLine(line, nth), 0.18)
                  : 'transparent',
            },
          ]
        : [],
    ),
    series: [
      { label: xKey ?? x },
      ...lines.flatMap((line, nth) => seriesFor(line.label, nth, drawing)),
    ],
    hooks: {
      setSelect: [
        plot => {
          if (plot.select.width < 4) return
          const { left, width: wide } = plot.select
          zoom({ from: plot.posToVal(left, 'x'), to: plot.posToVal(left + wide, 'x') })
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
      setSeries: [
        (plot, nth, { show }) => {
          if (nth !== null && show !== undefined) showWhole(plot, nth, show, drawing.current)
        },
      ],
      drawClear: [plot => markBoundaries(plot, drawing.current.boundaries)],
      draw: [
        plot => markNonfinite(plot, drawing.current.lines),
        plot => isCrowded(drawing.current) && drawLifted(plot, drawing.current),
      ],
    },
  }
}

const cursorOf = ({ lines, x, xKey }: Drawing, zoom: PlotActions['onZoom']): uPlot.Cursor => ({
  // The tooltip names the nearest lines; a mark on each of many would cover them, and be moved with the mouse.
  ...(isCrowded({ lines }) && { points: { show: false } }),
  // Charts over other metrics have their own places.
  ...(xKey === null && { sync: { key: `forge-${x}` } }),
  drag: { x: true, y: false, setScale: false },
  bind: {
    // A press that pans selects nothing.
    mousedown: (_plot, _target, handler) => event => {
      if (event.button === 0 && !isPan(event)) handler(event)
      return null
    },
    dblclick: () => () => {
      zoom(null)
      return null
    },
  },
})

/** A zoom is applied at once to the lines already loaded; finer ones follow. */
const rangeOf =
  (drawing: Ref<Drawing>): uPlot.Range.Function =>
  (_, min, max) => {
    const { range } = drawing.current
    return range ? [range.from, range.to] : [min, max]
  }

/** The limits that somebody set; where there are none, the data decide. */
function limitsOf({ isLog, limits }: Drawing): { range?: uPlot.Range.Function } {
  const { low: from, high: to } = drawableLimits(isLog, limits)
  if (from === null && to === null) return {}
  return {
    range: (_, min, max) => {
      const isEmpty = min === null || max === null
      const [low, high] = isEmpty
        ? [1, 10]
        : isLog
          ? uPlot.rangeLog(min, max, 10, false)
          : uPlot.rangeNum(min, max, 0.1, true)
      return [from ?? low, to ?? high]
    },
  }
}

function seriesFor(label: string, nth: number, drawing: Ref<Drawing>): uPlot.Series[] {
  const { lines } = drawing.current
  const whole = colourOfLine(lines[nth], nth)
  const dash = [...(lines[nth]?.stroke?.dash ?? [])]
  const runId = lines[nth]?.runId
  const isAside = () => {
    const { lifted } = drawing.current
    return lifted !== null && lifted !== runId && !isCrowded(drawing.current)
  }
  const colour = () => (isAside() ? faint(whole, 0.15) : whole)
  const isBanded = hasBands(lines) || lines[nth]?.isGroup === true
  // A band a pixel wide is too faint to see, so its edges are drawn: a single spike stays visible.
  const edge = () =>
    drawing.current.lines[nth]?.isBucketed && hasBands(lines) ? faint(whole, 0.45) : 'transparent'
  const hidden = { show: isBanded, width: 1, stroke: edge, points: { show: false }, label: '' }
  return [
    { ...hidden, class: 'extreme' },
    { ...hidden, class: 'extreme' },
    {
      label,
      dash,
      width: widthIn(drawing.current, 1.5, devicePixelRatio),
      stroke: () =>
        drawing.current.smoothing > 0 ? faint(whole, isAside() ? 0.05 : 0.3) : colour(),
      points: { show: false, filter: lonePoints, size: 7, fill: whole },
    },
    {
      label: `${label} ~`,
      class: 'extreme',
      show: drawing.current.smoothing > 0,
      dash,
      width: widthIn(drawing.current, 1.75, devicePixelRatio),
      stroke: colour,
      points: { show: false },
    },
  ]
}

const axisLabels: uPlot.Axis.Values = (_plot, splits, _axis, _space, increment) =>
  splits.map(value => axisNumber(value, increment))
const stepLabels: uPlot.Axis.Values = (_plot, splits, _axis, _space, increment) =>
  splits.map(value => (Number.isInteger(value) ? axisNumber(value, increment) : ''))
const labelsOf = ({ x, xKey }: Drawing) =>
  xKey !== null ? axisLabels : x === 'step' ? stepLabels : lengthLabels
const lengthLabels: uPlot.Axis.Values = (_plot, splits) => splits.map(value => lengthOf(value))

/** Isolated points, which would be invisible without a dot; null: there are none. */
function lonePoints({ data }: uPlot, index: number): number[] | null {
  const values = data[index] ?? []
  // A step that only other lines have is `undefined`, which the line passes over; null interrupts it.
  const own = [...values.keys()].filter(at => values[at] !== undefined)
  const isThere = (nth: number) => typeof values[own[nth] ?? -1] === 'number'
  const lone = own.filter((_, nth) => isThere(nth) && !isThere(nth - 1) && !isThere(nth + 1))
  return lone.length === 0 ? null : lone
}

/** A click on the legend applies to a line with its band and its smoothed form. */
function showWhole(plot: uPlot, nth: number, isShown: boolean, { smoothing }: Drawing): void {
  const isBanded = (plot.series.length - 1) / seriesOfLine <= mostBands
  const part = (nth - 1) % seriesOfLine
  if (part !== linePart) return
  for (let other = 0; other < seriesOfLine; other++)
    if (other < part ? isBanded : other > part && smoothing > 0)
      plot.setSeries(nth - part + other, { show: isShown })
}

/** Dashed lines where attempts begin. */
function markBoundaries(plot: uPlot, boundaries: readonly number[]): void {
  if (boundaries.length === 0) return
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = colourOf('line-strong')
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.beginPath()
  for (const x of boundaries) {
    const at = Math.round(plot.valToPos(x, 'x', true))
    if (at < bbox.left || at > bbox.left + bbox.width) continue
    ctx.moveTo(at, bbox.top)
    ctx.lineTo(at, bbox.top + bbox.height)
  }
  ctx.stroke()
  ctx.restore()
}

/** Small triangles at the lower edge, where values were NaN or infinite. */
function markNonfinite(plot: uPlot, lines: readonly Line[]): void {
  if (lines.every(({ nonfinite }) => nonfinite.length === 0)) return
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.fillStyle = colourOf('bad')
  for (const { x } of lines.flatMap(({ nonfinite }) => nonfinite)) {
    const at = plot.valToPos(x, 'x', true)
    if (at < bbox.left || at > bbox.left + bbox.width) continue
    const foot = bbox.top + bbox.height
    ctx.beginPath()
    ctx.moveTo(at, foot - 9 * ratio)
    ctx.lineTo(at - 5 * ratio, foot)
    ctx.lineTo(at + 5 * ratio, foot)
    ctx.fill()
  }
  ctx.restore()
}
