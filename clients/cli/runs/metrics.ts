import stringWidth from 'string-width'
import { csvLine } from '../../../schemas/csv.ts'
import { byInterest } from '../../../schemas/metrics/interest.ts'
import { type Api, segment } from '../api/client.ts'
import type { MetricKey, MetricSeries } from '../api/records.ts'
import { closest } from '../program/closest.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { amount, toNumber } from '../terminal/amounts.ts'
import { lineChart, sparkline } from '../terminal/chart.ts'
import { harmless, toJson } from '../terminal/harmless.ts'
import type { Point } from '../terminal/series.ts'
import { type Column, showTable, table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findRun } from './follow/run-events.ts'
import { type ExportOptions, exportMetrics } from './metric-export.ts'

type MetricsOptions = CommonOptions &
  ExportOptions &
  Texts<'around'> &
  Flags<'plot' | 'log' | 'csv'> & { window: string }

export const describeMetrics = describe({
  text: 'the metrics of a run: a table, charts, or the values around a step',
  operands: oneRun,
  options: {
    '-k, --keys <a,b>': 'these metrics; all of them otherwise',
    '--plot': 'draw a chart of each',
    '--log': 'logarithmic charts',
    '--csv': 'key,step,value lines; a sample of long series',
    '--export <csv|jsonl>': 'every point: key, step, value, ts',
    '-o, --output <file>': 'where to export to; stdout otherwise',
    '--around <step>': 'the values at and near this step',
    '--window <steps>': ['how many steps to each side of --around', '10'],
  },
})

export async function metrics(
  world: World,
  id: string,
  options: MetricsOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const run = await findRun(session.api, id)
  const base = `/api/runs/${segment(run.run_id)}/metrics`
  if (options.export !== undefined) {
    await exportMetrics(session, base, options)
    return exitCode.ok
  }
  if (options.output !== undefined) throw usageFailure('--output belongs to --export')
  const known = await session.api.get<MetricKey[]>(`${base}/keys`)
  const chosen = chosenKeys(known, options.keys)
  if (options.around !== undefined) await sayAround(session, base, chosen, options)
  else if (options.plot || options.csv) await sayPoints(session, base, chosen, options)
  else await saySummary(session, base, chosen)
  return exitCode.ok
}

function chosenKeys(known: readonly MetricKey[], wanted: string | undefined): MetricKey[] {
  const byKey = new Map(known.map(metric => [metric.key, metric]))
  if (wanted === undefined) return byInterest(byKey).flatMap(key => byKey.get(key) ?? [])
  return wanted.split(',').map(key => {
    const metric = byKey.get(key)
    if (metric) return metric
    const meant = closest(key, [...byKey.keys()])
    throw new Failure(
      exitCode.refused,
      `The run has no metric ${key}${meant === null ? '' : `; did you mean ${meant}?`}`,
      { fields: { known: [...byKey.keys()] } },
    )
  })
}

/** Keys per request: URLs have a length limit. */
const keysAtOnce = 20

async function readSeries(
  api: Api,
  base: string,
  keys: readonly MetricKey[],
  query: Record<string, number>,
): Promise<MetricSeries[]> {
  const series: MetricSeries[] = []
  for (let from = 0; from < keys.length; from += keysAtOnce) {
    const names = keys.slice(from, from + keysAtOnce).map(metric => metric.key)
    series.push(...(await api.get<MetricSeries[]>(base, { keys: names.join(','), ...query })))
  }
  return series
}

async function saySummary({ api, terminal, isJson }: Session, base: string, keys: MetricKey[]) {
  if (isJson) return terminal.data(toJson(keys))
  if (keys.length === 0) return terminal.note('The run has reported no metrics')
  const width = trendWidth(keys, terminal.columns())
  const series = await readSeries(api, base, keys, { buckets: widestTrend * 2 })
  const points = new Map(series.map(one => [one.key, meansOf(one)]))
  const value = (of: (metric: MetricKey) => number | string | null) => (metric: MetricKey) =>
    amount(toNumber(of(metric)))
  const columns: Column<MetricKey>[] = [
    { title: 'METRIC', cell: metric => metric.key, shrinks: true },
    { title: 'TREND', cell: metric => sparkline(points.get(metric.key) ?? [], width) },
    { title: 'LAST', cell: value(metric => metric.last), align: 'right' },
    { title: 'MIN', cell: value(metric => metric.min), align: 'right' },
    { title: 'MAX', cell: value(metric => metric.max), align: 'right' },
    { title: 'STEP', cell: metric => String(metric.last_step), align: 'right' },
    { title: 'POINTS', cell: metric => String(metric.count), align: 'right', drops: true },
  ]
  showTable(terminal, columns, keys)
}

const widestTrend = 24

/** Terminal columns left next to the names and four columns of numbers. */
function trendWidth(keys: readonly MetricKey[], columns: number | null): number {
  const names = Math.max(...keys.map(metric => stringWidth(metric.key)))
  return columns === null ? widestTrend : Math.max(5, Math.min(widestTrend, columns - names - 52))
}

async function sayPoints(
  { api, terminal, isJson }: Session,
  base: string,
  keys: MetricKey[],
  options: MetricsOptions,
) {
  const width = Math.min(terminal.columns() ?? 100, 160)
  const series = await readSeries(api, base, keys, { buckets: options.csv ? 5000 : width * 2 })
  if (isJson) terminal.data(toJson(series))
  else if (options.csv) for (const line of csvLines(series)) terminal.data(line)
  else for (const one of series) sayChart(terminal, one, { width, log: options.log === true })
}

function sayChart(
  terminal: Terminal,
  series: MetricSeries,
  { width, log }: { width: number; log: boolean },
) {
  const last = amount(toNumber(series.points.at(-1)?.[4] ?? null))
  terminal.data(`${terminal.paint('bold', series.key)}  ${last}`)
  for (const line of lineChart(extremesOf(series), { width, height: 14, log }))
    terminal.data(line.trimEnd())
  terminal.data('')
}

const csvLines = (series: readonly MetricSeries[]): string[] => [
  csvLine(['key', 'step', 'value']),
  ...series.flatMap(({ key, points }) => {
    // Before csvLine checks how it begins, not after, when the terminal removes controls.
    const name = harmless(key)
    return points.map(([step, , , , last]) =>
      csvLine([name, step, last === null ? '' : toNumber(last)]),
    )
  }),
]

/** The lowest and highest of each bucket, so that a chart shows true extremes. */
const extremesOf = ({ points }: MetricSeries): Point[] =>
  points.flatMap(([step, min, max]) => {
    const [low, high] = [toNumber(min), toNumber(max)]
    return low === high ? [[step, low] as const] : [[step, low] as const, [step, high] as const]
  })

const meansOf = ({ points }: MetricSeries): Point[] =>
  points.map(([step, , , mean]) => [step, toNumber(mean)])

async function sayAround(
  { api, terminal, isJson }: Session,
  base: string,
  keys: MetricKey[],
  options: MetricsOptions,
) {
  const [step, window] = [Number(options.around), Number(options.window)]
  if (!Number.isSafeInteger(step) || !Number.isSafeInteger(window) || window < 0)
    throw usageFailure('--around STEP and --window STEPS: give whole numbers')
  const range = { from: step - window, to: step + window, buckets: Math.min(2 * window + 1, 1000) }
  const series = await readSeries(api, base, keys, range)
  const rows = series.flatMap(({ key, points }) =>
    points.map(([at, , , , value]) => ({ key, step: at, value })),
  )
  if (isJson) return terminal.data(toJson(rows))
  if (rows.length === 0) return terminal.note(`Nothing within ${window} steps of ${step}`)
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'METRIC', cell: row => row.key, shrinks: true },
    { title: 'STEP', cell: row => String(row.step), align: 'right' },
    { title: 'VALUE', cell: row => amount(toNumber(row.value), 6), align: 'right' },
  ]
  const paintTitle = (text: string) => terminal.paint('dim', text)
  const lines = table(columns, rows, { width: terminal.columns(), paintTitle })
  lines.forEach((line, at) => {
    const isThere = rows[at - 1]?.step === step
    terminal.data(isThere ? terminal.paint('bold', line) : line)
  })
}
