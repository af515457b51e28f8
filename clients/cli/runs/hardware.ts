import type { GpuSummary, HardwareAnswer } from '../../../schemas/hardware.ts'
import { segment } from '../api/client.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { amount, size } from '../terminal/amounts.ts'
import { sparkline } from '../terminal/chart.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type HardwareOptions = CommonOptions & Texts<'node' | 'index' | 'keys' | 'from' | 'to'>
type Series = HardwareAnswer['series'][number]

export const describeHardware = describe({
  text: 'GPU and machine readings of a run, and which GPUs were idle or slow',
  operands: oneRun,
  options: {
    '--node <name>': 'of this machine',
    '--index <n>': 'of the GPU with this number',
    '-k, --keys <a,b>': 'these readings, such as util_pct,power_w; all of them otherwise',
    '--from <time>': 'from this time on, e.g. 2026-11-20T12:00:00Z',
    '--to <time>': 'up to this time',
  },
})

export async function hardware(
  world: World,
  id: string,
  { node, index, keys, from, to, ...options }: HardwareOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const query = { node, index, keys, from, to, buckets: isJson ? 200 : trendWidth * 2 }
  const found = await api.get<HardwareAnswer>(`/api/runs/${segment(id)}/hardware`, query)
  if (isJson) terminal.data(toJson(found))
  else if (found.series.length === 0) terminal.note('Nothing was measured in this time')
  else show(terminal, found)
  return exitCode.ok
}

const trendWidth = 24

function show(terminal: Terminal, { series, summary }: HardwareAnswer): void {
  if (summary.gpus.length > 0) {
    showTable(terminal, gpuColumns, summary.gpus)
    for (const line of findings(summary)) terminal.data(line)
    terminal.data('')
  }
  showTable(terminal, seriesColumns, series)
}

type Where = Pick<Series, 'node' | 'rank' | 'index'>

const deviceText = ({ node, rank, index }: Where) =>
  [
    node ?? '',
    index === null ? '' : `GPU ${index}`,
    node === null && rank !== null ? `rank ${rank}` : '',
  ]
    .filter(text => text !== '')
    .join(' ')

const percent = (share: number | null) => (share === null ? '-' : `${amount(share * 100, 3)} %`)
const number = (value: number | null) => (value === null ? '-' : amount(value, 3))

const gpuColumns: Column<GpuSummary>[] = [
  { title: 'GPU', cell: deviceText, shrinks: true },
  { title: 'USE %', cell: gpu => number(gpu.util_mean_pct), align: 'right' },
  { title: 'IDLE', cell: gpu => percent(gpu.idle_share), align: 'right' },
  {
    title: 'MEMORY',
    cell: gpu => (gpu.mem_peak_bytes === null ? '-' : size(gpu.mem_peak_bytes)),
    align: 'right',
  },
  { title: 'POWER W', cell: gpu => number(gpu.power_mean_w), align: 'right', drops: true },
  { title: 'MAX °C', cell: gpu => number(gpu.temp_peak_c), align: 'right', drops: true },
  { title: 'MHZ', cell: gpu => number(gpu.sm_clock_mean_mhz), align: 'right', drops: true },
  { title: 'THROTTLED', cell: gpu => gpu.throttle.join(' '), drops: true },
  { title: 'XID', cell: gpu => gpu.xids.join(' '), drops: true },
]

const readingNames = {
  sm_clock_mean_mhz: 'its clock is',
  util_mean_pct: 'its use is',
  power_mean_w: 'its power is',
} as const

const findings = ({ idle_share, idle_below_pct, stragglers }: HardwareAnswer['summary']) => [
  ...(idle_share !== null && idle_share > 0
    ? [`GPUs were used less than ${idle_below_pct} % for ${percent(idle_share)} of the time`]
    : []),
  ...stragglers.map(
    one =>
      `${deviceText(one)} is behind the others: ${readingNames[one.key]} ${amount(one.value, 3)}, the median ${amount(one.median, 3)}`,
  ),
]

const valuesOf = (at: 1 | 2 | 4) => (series: Series) => series.points.map(point => point[at])

const seriesColumns: Column<Series>[] = [
  { title: 'WHERE', cell: series => deviceText(series) || series.scope, shrinks: true },
  { title: 'READING', cell: series => series.key, shrinks: true },
  {
    title: 'TREND',
    cell: series =>
      sparkline(
        series.points.map(([ts, , , mean]) => [ts, mean]),
        trendWidth,
      ),
  },
  { title: 'MIN', cell: series => amount(Math.min(...valuesOf(1)(series))), align: 'right' },
  { title: 'MAX', cell: series => amount(Math.max(...valuesOf(2)(series))), align: 'right' },
  { title: 'LAST', cell: series => amount(valuesOf(4)(series).at(-1) ?? 0), align: 'right' },
]
