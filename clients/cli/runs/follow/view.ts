import stringWidth from 'string-width'
import { byInterest } from '../../../../schemas/metrics/interest.ts'
import { isEnded } from '../../api/records.ts'
import { amount, duration } from '../../terminal/amounts.ts'
import { lineChart, sparkline } from '../../terminal/chart.ts'
import type { Series } from '../../terminal/series.ts'
import type { Paint } from '../../terminal/terminal.ts'
import { oneLine, padEnd, truncate } from '../../terminal/width.ts'
import { marked } from '../marked.ts'
import { elapsedSeconds, type Picture, timeline } from './picture.ts'

export type ViewOptions = {
  width: number
  height: number
  nowMs: number
  paint: Paint
  /** Requested metrics; empty: the most interesting ones. */
  keys: readonly string[]
  /** Text of the bottom line. */
  footer: string
}

const chartHeight = { least: 6, most: 14 }
const leastLog = 4
const stateColour: Record<string, Parameters<Paint>[0]> = {
  running: 'green',
  succeeded: 'green',
  failed: 'red',
  stopped: 'yellow',
  abandoned: 'yellow',
}

export const paintState = (paint: Paint, state: string, text: string): string =>
  paint(stateColour[state] ?? 'cyan', text)

/** The current view of the run, in at most `height` lines of at most `width` columns. */
export function runView(picture: Picture, options: ViewOptions): string[] {
  const { width, height, paint, footer } = options
  const head = [title(picture, options), stages(picture, options), ...progress(picture, options)]
  const left = height - head.length - 1
  const chartLines = Math.max(
    chartHeight.least,
    // Even, so that the chart has an odd number of rows and a middle one to label.
    Math.min(chartHeight.most, 2 * Math.floor(left * 0.28)),
  )
  const hasCharts = left >= chartHeight.least + 3
  const spare = left - chartLines - 5
  const others = hasCharts ? otherMetrics(picture, options, Math.min(6, spare)) : []
  const logLines = Math.max(leastLog, picture.log.length + 1)
  // A short log leaves its lines to the charts.
  const unused = Math.max(0, left - chartLines - others.length - logLines)
  const charts = hasCharts ? chartRow(picture, options, chartLines + 2 * (unused >> 1)) : []
  const tail = logTail(picture, options, left - charts.length - others.length)
  return [...head, ...charts, ...others, ...tail, paint('dim', truncate(footer, width))].slice(
    0,
    height,
  )
}

function title(picture: Picture, { width, paint }: ViewOptions): string {
  const { shortId, name, recipe } = picture
  const isNamedAfterRecipe = recipe?.startsWith(`${name} `) === true
  const what = isNamedAfterRecipe ? [shortId, recipe] : [shortId, name, recipe]
  const left = truncate(what.filter(Boolean).join('  '), width)
  const room = width - stringWidth(left) - 2
  const url = stringWidth(picture.url) <= room ? picture.url : ''
  return paint('bold', padEnd(left, width - stringWidth(url))) + paint('dim', url)
}

/** `queued 0.3 s › starting 6 s › running 12 s`: the time spent in each state. */
function stages(picture: Picture, { width, nowMs, paint }: ViewOptions): string {
  const passed = timeline(picture, nowMs)
  const parts = passed.map(({ state, seconds }) => `${state} ${duration(seconds)}`)
  if (isEnded(picture.state))
    parts.push(`${picture.state} after ${duration(elapsedSeconds(picture, nowMs))}`)
  const current = parts.pop() ?? picture.state
  const before = parts.length > 0 ? `${parts.join(' › ')} › ` : ''
  const why = [picture.phase, picture.reason].filter(text => text !== null && text !== '')
  const reason =
    why.length > 0 && !/^(running|succeeded)$/.test(picture.state) ? ` (${why.join(', ')})` : ''
  const room = width - stringWidth(current + reason)
  const shown = room < 4 ? '' : cut(before, room)
  return (
    paint('dim', shown) +
    paintState(paint, picture.state, truncate(current + reason, width - stringWidth(shown)))
  )
}

/** Cuts text but keeps its last character, a separator. */
const cut = (text: string, width: number) =>
  stringWidth(text) <= width ? text : `${truncate(text, width - 2)}› `

function progress(picture: Picture, { width, paint, nowMs }: ViewOptions): string[] {
  const [gap] = picture.gaps.values()
  if (gap && nowMs - gap.sinceMs > 1000) {
    const text = `reconnecting for ${duration((nowMs - gap.sinceMs) / 1000)}: ${gap.reason}`
    return [paint('yellow', truncate(text, width))]
  }
  const step = newestStep(picture)
  if (step === null || picture.totalSteps === null || picture.totalSteps <= 0) return []
  const fraction = Math.min(1, step / picture.totalSteps)
  const percent = `${Math.round(fraction * 100)}%`
  const eta =
    picture.etaSeconds === null || isEnded(picture.state)
      ? ''
      : `  ${duration(picture.etaSeconds)} left`
  const text = `  ${percent}  step ${step} of ${picture.totalSteps}${eta}`
  const cells = Math.max(0, Math.min(40, width - stringWidth(text)))
  const full = Math.round(fraction * cells)
  return [
    paint('green', '━'.repeat(full)) +
      paint('dim', '━'.repeat(cells - full)) +
      truncate(text, width - cells),
  ]
}

/** The step known to the server or from newer points: the end of a short run appears in its points first. */
function newestStep({ step, metrics }: Picture): number | null {
  const reported = [...metrics.values()].flatMap(({ last }) => (last ? [last[0]] : []))
  return step === null ? null : Math.max(step, ...reported)
}

/** Charts side by side, each at least 36 columns wide. */
function chartRow(picture: Picture, options: ViewOptions, lines: number): string[] {
  const { width, paint } = options
  const keys = shownKeys(picture, options)
  if (keys.length === 0) return [paint('dim', 'no metrics yet')]
  const gap = 2
  const each = Math.floor((width - gap * (keys.length - 1)) / keys.length)
  const charts = keys.map(key => {
    const series = picture.metrics.get(key)
    const points = series?.points ?? []
    const heading = `${key} ${amount(series?.last?.[1] ?? Number.NaN)}`
    const body = lineChart(points, { width: each, height: lines - 1 })
    return [
      paint('bold', padEnd(truncate(heading, each), each)),
      ...body.map(line => padEnd(line, each)),
    ]
  })
  return Array.from({ length: lines }, (_, row) =>
    charts
      .map(chart => chart[row] ?? '')
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

function shownKeys(picture: Picture, { width, keys }: ViewOptions): string[] {
  const wanted =
    keys.length > 0 ? keys.filter(key => picture.metrics.has(key)) : byInterest(picture.metrics)
  return wanted.slice(0, Math.max(1, Math.min(3, Math.floor(width / 38))))
}

/** One line for each metric without a chart. */
function otherMetrics(picture: Picture, options: ViewOptions, lines: number): string[] {
  const { width, paint } = options
  const charted = new Set(shownKeys(picture, options))
  const keys = byInterest(picture.metrics).filter(key => !charted.has(key))
  if (lines < 1 || keys.length === 0) return []
  const shown = keys.slice(0, keys.length > lines ? Math.max(0, lines - 1) : lines)
  const nameWidth = Math.min(32, Math.max(...shown.map(text => stringWidth(text)), 0))
  const spark = Math.max(0, Math.min(30, width - nameWidth - 34))
  const rows = shown.map(key =>
    metricLine(key, picture.metrics.get(key), { nameWidth, spark, width }),
  )
  if (keys.length > shown.length)
    rows.push(paint('dim', truncate(`and ${keys.length - shown.length} more metrics`, width)))
  return rows
}

function metricLine(
  key: string,
  series: Series | undefined,
  { nameWidth, spark, width }: { nameWidth: number; spark: number; width: number },
): string {
  const range = series?.range()
  const span = range ? `${amount(range.min, 3)} … ${amount(range.max, 3)}` : ''
  const bars = padEnd(sparkline(series?.points ?? [], spark), spark)
  const last = padEnd(amount(series?.last?.[1] ?? Number.NaN), 10)
  return truncate(`${padEnd(truncate(key, nameWidth), nameWidth)}  ${bars}  ${last}${span}`, width)
}

function logTail(picture: Picture, { width, paint }: ViewOptions, lines: number): string[] {
  if (lines < 2) return []
  const heading = paint('dim', truncate(`── log ${'─'.repeat(Math.max(0, width - 7))}`, width))
  const shown = picture.log.slice(-(lines - 1)).map(line => truncate(oneLine(marked(line)), width))
  const blank = Array.from({ length: lines - 1 - shown.length }, () => '')
  return [heading, ...shown, ...blank]
}
