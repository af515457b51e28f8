// First: it mends what uPlot reads when it is loaded.
import './locale.ts'
import uPlot from 'uplot'
import { axisNumber, shortNumber } from './numbers.ts'

/** Values as in the API: JSON has no non-finite numbers. */
export type Value = number | 'NaN' | 'Infinity' | '-Infinity'
export type Point = { key: string; step: number; value: Value }

/** Points of one key by step, ascending; null marks a value that is not finite. */
type Series = { steps: number[]; values: (number | null)[]; nonfinite: number }

type Chart = { box: HTMLElement; last: HTMLElement; plot: uPlot | null; keys: string[] }

/** At least this many keys with a common prefix share one chart (e.g. per-class accuracies). */
const sharedFrom = 4
const height = 200
/** Milliseconds between redraws: more frequent ones are not noticed and only cost the reader's CPU. */
const redrawMs = 200
const palette = [
  '#0b62c4',
  '#d9480f',
  '#2b8a3e',
  '#ae3ec9',
  '#c92a2a',
  '#0c8599',
  '#e67700',
  '#5c940d',
  '#862e9c',
  '#495057',
]

/** Draws one chart per key (or family of keys) into `root` and updates it with new points. */
export function liveCharts(root: HTMLElement) {
  const series = new Map<string, Series>()
  const charts = new Map<string, Chart>()
  const sync = uPlot.sync('step')
  let _timer: ReturnType<typeof setTimeout> | null = null

  const redraw = () => {
    _timer = null
    for (const [title, keys] of families([...series.keys()])) drawFamily(title, keys)
    for (const [title, chart] of charts)
      if (!families([...series.keys()]).has(title)) {
        chart.plot?.destroy()
        chart.box.remove()
        charts.delete(title)
      }
  }
  const drawFamily = (title: string, keys: string[]) => {
    const chart = charts.get(title) ?? createChart(root, title)
    charts.set(title, chart)
    const data = align(keys.map(key => series.get(key) ?? emptySeries()))
    if (!chart.plot || chart.keys.join() !== keys.join()) {
      chart.plot?.destroy()
      chart.keys = keys
      chart.plot = new uPlot(optionsOf(title, keys, chart.box, sync.key), data, chart.box)
    } else chart.plot.setData(data)
    chart.last.textContent = lastOf(keys, series)
  }
  const resize = () => {
    for (const { box, plot } of charts.values())
      plot?.setSize({ width: box.clientWidth - 16, height })
  }
  addEventListener('resize', resize)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const chart of charts.values()) chart.keys = []
    redraw()
  })
  return {
    add(points: readonly Point[]) {
      for (const point of points) put(series, point)
      _timer ??= setTimeout(redraw, redrawMs)
    },
    clear() {
      series.clear()
    },
  }
}

const emptySeries = (): Series => ({ steps: [], values: [], nonfinite: 0 })

/** A repeated step replaces the earlier value: the later report wins. */
function put(all: Map<string, Series>, { key, step, value }: Point): void {
  const series = all.get(key) ?? emptySeries()
  all.set(key, series)
  const stored = typeof value === 'number' ? value : null
  if (stored === null) series.nonfinite++
  const at = indexFor(series.steps, step)
  if (series.steps[at] === step) series.values[at] = stored
  else {
    series.steps.splice(at, 0, step)
    series.values.splice(at, 0, stored)
  }
}

function indexFor(steps: readonly number[], step: number): number {
  let low = 0
  let high = steps.length
  if ((steps.at(-1) ?? -Infinity) < step) return high
  while (low < high) {
    const middle = (low + high) >> 1
    if ((steps[middle] ?? 0) < step) low = middle + 1
    else high = middle
  }
  return low
}

export function families(keys: readonly string[]): Map<string, string[]> {
  const byParent = Map.groupBy([...keys].sort(), key =>
    key.slice(0, Math.max(0, key.lastIndexOf('/'))),
  )
  const found = new Map<string, string[]>()
  for (const [parent, siblings] of byParent)
    if (parent !== '' && siblings.length >= sharedFrom) found.set(parent, siblings)
    else for (const key of siblings) found.set(key, [key])
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** uPlot needs one list of steps for all lines of a chart. */
function align(all: readonly Series[]): uPlot.AlignedData {
  const [only] = all
  if (all.length === 1 && only) return [only.steps, only.values]
  const tables = all.map(({ steps, values }): uPlot.AlignedData => [steps, values])
  return uPlot.join(tables)
}

function createChart(root: HTMLElement, title: string): Chart {
  const box = document.createElement('div')
  box.className = 'chart'
  const heading = document.createElement('h3')
  heading.textContent = title
  const last = document.createElement('span')
  last.className = 'last'
  heading.append(last)
  box.append(heading)
  const after = [...root.children].find(
    child => (child.querySelector('h3')?.firstChild?.textContent ?? '') > title,
  )
  root.insertBefore(box, after ?? null)
  return { box, last, plot: null, keys: [] }
}

function lastOf(keys: readonly string[], all: Map<string, Series>): string {
  const [key] = keys
  if (keys.length !== 1 || key === undefined) return `${keys.length} lines`
  const series = all.get(key)
  const value = series?.values.at(-1)
  const shown = value === null || value === undefined ? 'not finite' : shortNumber(value, 4)
  const warning = series && series.nonfinite > 0 ? ` · ${series.nonfinite} not finite` : ''
  return `${shown} at step ${series?.steps.at(-1)}${warning}`
}

function optionsOf(
  title: string,
  keys: readonly string[],
  box: HTMLElement,
  syncKey: string,
): uPlot.Options {
  const style = getComputedStyle(document.body)
  const ink = style.color
  const grid = { stroke: getComputedStyle(box).borderTopColor, width: 1 }
  const axis = { stroke: ink, grid, ticks: grid, font: '11px system-ui' }
  return {
    width: box.clientWidth - 16,
    height,
    scales: { x: { time: false } },
    axes: [{ ...axis }, { ...axis, size: 64, values: axisLabels }],
    cursor: { sync: { key: syncKey }, drag: { x: true, y: false } },
    legend: { live: true },
    series: [
      { label: 'step' },
      ...keys.map((key, index) => ({
        label: keys.length === 1 ? 'value' : key.slice(title.length + 1),
        stroke: colourOf(index),
        width: 1.5,
        spanGaps: false,
        value: (_: uPlot, value: number | null) => (value === null ? '--' : shortNumber(value)),
        points: { show: false, filter: lonePoints, size: 6, fill: colourOf(index) },
      })),
    ],
  }
}

const colourOf = (index: number): string => palette[index % palette.length] ?? ''

const axisLabels: uPlot.Axis.Values = (_plot, splits, _axis, _space, increment) =>
  splits.map(value => axisNumber(value, increment))

/** The points that no line reaches, which would be invisible without a dot; null: none. */
function lonePoints({ data }: uPlot, index: number): number[] | null {
  const values = data[index] ?? []
  // At steps of other lines only there is `undefined`, which a line passes; null interrupts it.
  const own = [...values.keys()].filter(at => values[at] !== undefined)
  const isThere = (nth: number) => typeof values[own[nth] ?? -1] === 'number'
  const lone = own.filter((_, nth) => isThere(nth) && !isThere(nth - 1) && !isThere(nth + 1))
  return lone.length === 0 ? null : lone
}
