import type { HardwareAnswer } from '../../../../../../schemas/hardware.ts'

type Series = HardwareAnswer['series'][number]

export type Small = {
  key: string
  /** The scale of the axis: 0 to the greatest value of all its lines. */
  max: number
  lines: { label: string; points: readonly (readonly [x: number, y: number])[] }[]
}

/** Shown first; all others follow by name. */
const order = [
  'util_pct',
  'mem_used_bytes',
  'power_w',
  'temp_c',
  'cpu_pct',
  'proc_rss_bytes',
  'net_rx_bps',
  'net_tx_bps',
]

/** Where a reading was taken: `n1 · GPU 3`, `GPU 3`, or the machine. */
export const devicePlaceOf = ({
  node,
  index,
  scope,
}: Pick<Series, 'node' | 'index' | 'scope'>): string =>
  [...(node === null ? [] : [node]), ...(scope === 'gpu' ? [`GPU ${index ?? 0}`] : [])].join(
    ' · ',
  ) || 'host'

/** A small chart for each reading, with a line for each place. */
export function smallsOf(series: readonly Series[]): Small[] {
  const byKey = Map.groupBy(series, ({ key }) => key)
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length)
  return [...byKey]
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([key, own]) => ({
      key,
      max: key.endsWith('_pct')
        ? 100
        : Math.max(1e-9, ...own.flatMap(({ points }) => points.map(([, , max]) => max))),
      lines: own.map(one => ({
        label: devicePlaceOf(one),
        points: one.points.map(([ts, , , mean]) => [ts, mean] as const),
      })),
    }))
}

/** The path of a line in a box of a width and height, times from `from` to `to`. */
export function svgPathOf(
  points: Small['lines'][number]['points'],
  {
    from,
    to,
    max,
    width,
    height,
  }: { from: number; to: number; max: number; width: number; height: number },
): string {
  const span = Math.max(1, to - from)
  return points
    .map(([ts, value], nth) => {
      const x = ((ts - from) / span) * width
      const y = height - (Math.max(0, Math.min(max, value)) / max) * height
      return `${nth === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}
