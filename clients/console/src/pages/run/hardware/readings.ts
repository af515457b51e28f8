import type { HardwareAnswer } from '../../../../../../schemas/hardware.ts'
import type { Line } from '../../../charts/series.ts'
import { plainView } from '../../../charts/view.ts'

type Series = HardwareAnswer['series'][number]

const mega = 1_000_000
const gibi = 1024 ** 3

type Name = readonly [en: string, zh: string]
type Known = { name: Name; unit: string; per?: number }

/** What readings are called, and their unit; by `per` they are divided for it. In the order in which they are shown. */
const known: Readonly<Record<string, Known>> = {
  util_pct: { name: ['GPU utilization', 'GPU 利用率'], unit: '%' },
  mem_used_bytes: { name: ['GPU memory', '显存'], unit: 'GiB', per: gibi },
  power_w: { name: ['Power', '功率'], unit: 'W' },
  temp_c: { name: ['Temperature', '温度'], unit: '°C' },
  cpu_pct: { name: ['CPU utilization', 'CPU 利用率'], unit: '%' },
  proc_rss_bytes: { name: ['Memory of the process', '进程内存'], unit: 'GiB', per: gibi },
  net_rx_bps: { name: ['Network, received', '网络接收'], unit: 'MB/s', per: mega },
  net_tx_bps: { name: ['Network, sent', '网络发送'], unit: 'MB/s', per: mega },
  disk_read_bps: { name: ['Disk, read', '磁盘读取'], unit: 'MB/s', per: mega },
  disk_write_bps: { name: ['Disk, written', '磁盘写入'], unit: 'MB/s', per: mega },
  disk_used_bytes: { name: ['Disk, used', '磁盘已用'], unit: 'GiB', per: gibi },
  load1: { name: ['Load', '负载'], unit: '' },
  mem_util_pct: { name: ['Memory bandwidth', '显存带宽利用率'], unit: '%' },
  sm_active_pct: { name: ['SMs active', 'SM 活跃'], unit: '%' },
  tensor_active_pct: { name: ['Tensor cores active', '张量核心活跃'], unit: '%' },
  sm_clock_mhz: { name: ['SM clock', 'SM 频率'], unit: 'MHz' },
  nvlink_tx_bytes: { name: ['NVLink, sent', 'NVLink 发送'], unit: 'GiB', per: gibi },
  nvlink_rx_bytes: { name: ['NVLink, received', 'NVLink 接收'], unit: 'GiB', per: gibi },
  pcie_tx_bytes: { name: ['PCIe, sent', 'PCIe 发送'], unit: 'GiB', per: gibi },
  pcie_rx_bytes: { name: ['PCIe, received', 'PCIe 接收'], unit: 'GiB', per: gibi },
}
const order = Object.keys(known)

/** Readings that end the axis of another one, instead of having a chart. */
const bounds: Readonly<Record<string, string>> = {
  mem_used_bytes: 'mem_total_bytes',
  power_w: 'power_limit_w',
}
const isBound = (key: string): boolean => Object.values(bounds).includes(key)

/** Where a reading was taken: `n1 · GPU 3`, `GPU 3`, or the machine. */
export const devicePlaceOf = ({
  node,
  index,
  scope,
}: Pick<Series, 'node' | 'index' | 'scope'>): string =>
  [...(node === null ? [] : [node]), ...(scope === 'gpu' ? [`GPU ${index ?? 0}`] : [])].join(
    ' · ',
  ) || 'host'

export type ReadingChart = {
  key: string
  /** With the unit: `Power, W`. */
  title: Name
  lines: Line[]
  limits: { low: number | null; high: number | null }
}

/** A chart for each reading, with a line for each place and the time in seconds of the epoch. */
export function readingChartsOf(series: readonly Series[]): ReadingChart[] {
  const byKey = Map.groupBy(series, ({ key }) => key)
  const rank = (key: string) => (key in known ? order.indexOf(key) : order.length)
  return [...byKey]
    .filter(([key]) => !isBound(key))
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([key, own]) => {
      const { name = [key, key], unit = '', per = 1 } = known[key] ?? {}
      const titled = (text: string) => (unit === '' ? text : `${text}, ${unit}`)
      return {
        key,
        title: [titled(name[0]), titled(name[1])],
        lines: own.map(one => lineOf(one, per)),
        limits: limitsOf(key, per, byKey.get(bounds[key] ?? '') ?? []),
      }
    })
}

/** A share is read against 100 %, and memory against what there is. */
function limitsOf(key: string, per: number, bound: readonly Series[]): ReadingChart['limits'] {
  if (key.endsWith('_pct')) return { low: 0, high: 100 }
  const most = Math.max(0, ...bound.flatMap(({ points }) => points.map(([, , max]) => max)))
  return most > 0 ? { low: 0, high: most / per } : plainView.limits
}

function lineOf(series: Series, per: number): Line {
  const { points } = series
  const newest = points.at(-1)
  return {
    label: devicePlaceOf(series),
    runId: devicePlaceOf(series),
    x: points.map(([ts]) => ts / 1000),
    min: points.map(([, min]) => min / per),
    max: points.map(([, , max]) => max / per),
    value: points.map(([, , , mean]) => mean / per),
    nonfinite: [],
    isBucketed: true,
    last: newest ? { step: newest[0], value: newest[4] / per } : null,
  }
}
