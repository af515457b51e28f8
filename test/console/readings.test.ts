import test from 'ava'
import { readingChartsOf } from '../../clients/console/src/pages/run/hardware/readings.ts'

const gibi = 1024 ** 3

const series = (key: string, values: readonly number[], index: number | null = 0) => ({
  ...({ key, node: null, rank: null, index, uuid: null, extra: false } as const),
  scope: index === null ? ('host' as const) : ('gpu' as const),
  points: values.map((value, nth) => [nth * 1000, value, value, value, value] as const),
})

test('readings are charts with a name and a unit, in the order in which people look at them', t => {
  const charts = readingChartsOf([
    series('fan_rpm', [1]),
    series('net_rx_bps', [2_000_000], null),
    series('temp_c', [60]),
    series('mem_used_bytes', [gibi, 2 * gibi]),
    series('mem_total_bytes', [80 * gibi, 80 * gibi]),
    series('util_pct', [97, 99]),
    series('util_pct', [3, 5], 1),
  ])
  t.deepEqual(
    charts.map(({ title: [en] }) => en),
    [
      'GPU utilization, %',
      'GPU memory, GiB',
      'Temperature, °C',
      'Network, received, MB/s',
      'fan_rpm',
    ],
  )
  const [used, memory, , network] = charts
  t.deepEqual(
    used?.lines.map(({ label }) => label),
    ['GPU 0', 'GPU 1'],
  )
  t.deepEqual(used?.limits, { low: 0, high: 100 })
  t.deepEqual(memory?.limits, { low: 0, high: 80 }, 'what there is ends the axis')
  t.deepEqual(memory?.lines[0]?.value, [1, 2])
  t.deepEqual(memory?.lines[0]?.x, [0, 1])
  t.deepEqual(network?.lines[0]?.value, [2])
})
