import test from 'ava'
import { createCallMeter, maxCallsAtOnce } from '../../command-api/hardware/call-meter.ts'
import type { HardwarePoint } from '../../events/hardware.ts'
import { Refusal } from '../../platform/refusal.ts'
import { addPoint, maxKeys, maxSources, noSources } from '../../projector/hardware/sources.ts'
import { summarize } from '../../query-api/hardware/summary.ts'
import type { GpuSummary } from '../../schemas/hardware.ts'

const point = (more: Partial<HardwarePoint>): HardwarePoint => ({
  ts_ms: 1,
  node: 'n',
  rank: null,
  scope: 'gpu',
  index: 0,
  uuid: null,
  readings: {},
  throttle: [],
  xid: null,
  ...more,
})

test('a reading keeps its place when others arrive, and the later point of one time wins', t => {
  const run = noSources()
  addPoint(run, point({ readings: { util_pct: 1 } }))
  addPoint(run, point({ ts_ms: 2, readings: { constructor: 5, util_pct: 2 } }))
  addPoint(run, point({ ts_ms: 2, readings: { power_w: 7 } }))
  t.deepEqual(
    [...run.rows.values()].map(row => row.readings),
    [[1], [null, null, 7]],
  )
  t.deepEqual(
    [...run.byPlace.values()],
    [{ source: 1, uuid: null, keys: ['util_pct', 'constructor', 'power_w'] }],
  )
})

test('GPUs beyond the limit are counted as dropped, excess readings are left out', t => {
  const run = noSources()
  for (let index = 0; index <= maxSources; index++) addPoint(run, point({ index }))
  t.is(run.byPlace.size, maxSources)
  t.is(run.dropped, 1)
  const many = Object.fromEntries(Array.from({ length: maxKeys + 1 }, (_, n) => [`k${n}`, n]))
  addPoint(run, point({ readings: many }))
  t.is(run.rows.get('1/1')?.readings.length, maxKeys)
})

test('a node that has used up its calls may send again when the next is due, others are not blocked', t => {
  const meter = createCallMeter()
  const at = (seconds: number) => new Date(seconds * 1000)
  const nodes = new Set(['a'])
  for (let call = 0; call < maxCallsAtOnce; call++) meter.count('run', nodes, at(0))
  const refused = t.throws(() => meter.count('run', new Set(['b', 'a']), at(1)), {
    instanceOf: Refusal,
  })
  t.is(refused.extras.retryAfterSeconds, 9)
  t.notThrows(() => meter.count('run', new Set(['b']), at(1)))
  t.notThrows(() => meter.count('run', nodes, at(10)))
  t.throws(() => meter.count('run', nodes, at(10)))
})

const gpu = (index: number, more: Partial<GpuSummary>): GpuSummary => ({
  node: 'n',
  rank: null,
  index,
  uuid: null,
  samples: 10,
  util_mean_pct: 90,
  idle_share: 0,
  mem_peak_bytes: null,
  mem_total_bytes: null,
  power_mean_w: null,
  temp_peak_c: null,
  sm_clock_mean_mhz: 1980,
  throttled_share: 0,
  throttle: [],
  xids: [],
  ...more,
})

test('a straggler is one of three or more, named once by the most significant reading', t => {
  const slow = gpu(2, { sm_clock_mean_mhz: 1000, util_mean_pct: 10 })
  t.deepEqual(summarize([gpu(0, {}), slow]).stragglers, [])
  t.like(summarize([gpu(0, {}), gpu(1, {}), slow]).stragglers, [
    { index: 2, key: 'sm_clock_mean_mhz', value: 1000, median: 1980 },
  ])
  t.deepEqual(
    summarize([gpu(0, {}), gpu(1, {}), gpu(2, { sm_clock_mean_mhz: 1800 })]).stragglers,
    [],
  )
})

test('the share of idle samples counts only GPUs with known utilization', t => {
  const gpus = [gpu(0, { idle_share: 0.5 }), gpu(1, { samples: 30 }), gpu(2, { idle_share: null })]
  t.is(summarize(gpus).idle_share, 5 / 40)
  t.is(summarize([]).idle_share, null)
})
