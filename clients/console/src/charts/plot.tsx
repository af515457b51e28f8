// Must come first: it fixes what uPlot reads when it is loaded.
import '../design/locale.ts'
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { onColours } from './colours.ts'
import { drawLifted } from './lifted.ts'
import { type Drawing, dataOf, mostBands, optionsOf, type PlotActions } from './options.ts'
import styles from './plot.module.css'
import { type Slots, slotsFor } from './slots.ts'
import { isCrowded, linePart, seriesOfLine } from './uplot-series.ts'
import { pannedBy, type Range, zoomedBy } from './zoom.ts'

type Props = {
  /** Its name for screen readers. */
  name: string
  drawing: Drawing
  height: number
  /** Dragging selects a part of the axis, and moves it with Shift or the middle button; a double click selects all (null). */
  onZoom: (range: { from: number; to: number } | null) => void
  /** The run whose line is under the cursor. */
  onHover?: (runId: string | null) => void
}

/** A chart on a canvas. Left and right move its cursor, with Shift the visible part; `+` and `-` zoom about it, `0` shows everything. */
export function Plot({ name, drawing, height, onZoom, onHover = () => {} }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const actions = useRef<PlotActions>({ onZoom, onHover })
  actions.current = { onZoom, onHover }
  const made = useRef<Slots['lines']>([])
  const whole = useMemo(() => inSlots(drawing, made.current), [drawing])
  made.current = whole.lines
  const panned = useRef<Range>(null)
  const latest = useRef(whole)
  latest.current = panned.current === null ? whole : { ...whole, range: panned.current }
  const drawn = useRef<Whole | null>(null)
  const { lines, isLog, isLogX, x, xKey, limits, smoothing } = whole
  const shape = JSON.stringify([
    lines.map(({ label, runId, stroke }) => [label, runId, stroke?.token]),
    ...[isLog, isLogX, x, xKey, limits, smoothing > 0, height],
  ])
  useEffect(() => {
    const place = box.current
    if (!place || shape === '') return
    const make = () => {
      plot.current?.destroy()
      const size = { width: place.clientWidth, height }
      plot.current = new uPlot(
        optionsOf(latest, size, {
          zoom: range => {
            panned.current = null
            actions.current.onZoom(range)
          },
          pan: range => {
            panned.current = range
            latest.current = { ...latest.current, range }
            plot.current?.setScale('x', { min: range.from, max: range.to })
          },
          hover: runId => actions.current.onHover(runId),
        }),
        dataOf(latest.current),
        place,
      )
      drawn.current = latest.current
      for (const [nth, isShown] of latest.current.shown.entries())
        if (!isShown) show(plot.current, nth, false)
    }
    make()
    const unwatch = keepWidth(place, plot, height)
    const leave = onColours(make)
    return () => {
      unwatch()
      leave()
      plot.current?.destroy()
      plot.current = null
    }
  }, [shape, height])
  useRedraw(plot, drawn, whole)
  return (
    <div
      ref={box}
      className={styles.plot}
      // It keeps its place before it is drawn, and while it is drawn again.
      style={{ minHeight: height }}
      role="img"
      aria-label={name}
      aria-keyshortcuts="ArrowLeft ArrowRight Shift+ArrowLeft Shift+ArrowRight + - 0"
      tabIndex={0}
      onKeyDown={event => onKey(event, plot.current, onZoom)}
    />
  )
}

function keepWidth(place: HTMLElement, plot: Ref<uPlot | null>, height: number): () => void {
  const watch = new ResizeObserver(() => {
    if (plot.current && plot.current.width !== place.clientWidth)
      plot.current.setSize({ width: place.clientWidth, height })
  })
  watch.observe(place)
  return () => watch.disconnect()
}

function onKey(event: KeyboardEvent, plot: uPlot | null, onZoom: Props['onZoom']): void {
  if (event.key === '0') onZoom(null)
  const factor = { '+': 0.5, '=': 0.5, '-': 2 }[event.key]
  if (factor && plot) onZoom(zoomedBy(viewOf(plot), factor))
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  if (by === undefined || !plot) return
  event.preventDefault()
  if (event.shiftKey) onZoom(pannedBy(viewOf(plot), by * panShare, plot.scales.x?.distr === 3))
  else moveCursor(plot, by)
}

/** The share of the visible part by which a key moves it. */
const panShare = 0.1

type Ref<T> = { current: T }
type Whole = Drawing & Slots

/** The drawing of a plot that was made for these lines, if they include the drawing's own. */
const inSlots = (drawing: Drawing, made: Slots['lines']): Whole => ({
  ...drawing,
  ...slotsFor(made, drawing.lines, mostBands + 1),
})

const show = (plot: uPlot, nth: number, isShown: boolean) =>
  plot.setSeries(1 + nth * seriesOfLine + linePart, { show: isShown })

/** Applies a new drawing to a plot of the same shape, by as little work as it needs. */
function useRedraw(plot: Ref<uPlot | null>, drawn: Ref<Whole | null>, drawing: Whole): void {
  useEffect(() => {
    const before = drawn.current
    if (before === drawing || !plot.current) return
    drawn.current = drawing
    apply(plot.current, before, drawing)
  }, [plot, drawn, drawing])
}

function apply(plot: uPlot, before: Whole | null, drawing: Whole): void {
  for (const [nth, isShown] of drawing.shown.entries())
    if (isShown !== before?.shown[nth]) show(plot, nth, isShown)
  if (before === null || !hasSameData(before, drawing)) plot.setData(dataOf(drawing))
  else if (before.range !== drawing.range) plot.setScale('x', scaleOf(drawing, plot))
  else if (before.lifted !== drawing.lifted) {
    if (isCrowded(drawing)) drawLifted(plot, drawing)
    else plot.redraw(false)
  }
}

const hasSameData = (before: Whole, { lines, boundaries, smoothing, filter }: Whole): boolean =>
  lines.every((line, nth) => line === before.lines[nth]) &&
  before.boundaries.join() === boundaries.join() &&
  before.smoothing === smoothing &&
  before.filter === filter

function scaleOf({ range }: Drawing, { data: [xs] }: uPlot) {
  return { min: range?.from ?? xs[0] ?? 0, max: range?.to ?? xs.at(-1) ?? 1 }
}

/** The visible part of the axis, and the cursor's position on it. */
function viewOf({ scales, data, cursor }: uPlot) {
  const { min = 0, max = 0 } = scales.x ?? {}
  const [from, to] = [min ?? 0, max ?? 0]
  return { from, to, at: data[0][cursor.idx ?? -1] ?? (from + to) / 2 }
}

function moveCursor(plot: uPlot, by: number): void {
  const [xs = []] = plot.data
  const at = Math.max(
    0,
    Math.min(xs.length - 1, (plot.cursor.idx ?? (by > 0 ? -1 : xs.length)) + by),
  )
  const x = xs[at]
  if (x !== undefined)
    plot.setCursor({ left: plot.valToPos(x, 'x'), top: plot.over.clientHeight / 2 })
}
