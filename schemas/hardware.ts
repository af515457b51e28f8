import { type Static, Type } from 'typebox'
import { control } from './runs/runs.ts'
import { closed, namePattern, nullable, oneOf, timestamp } from './shared.ts'

/** Maximum points per call, and maximum body in bytes. */
export const maxHardwarePoints = 2000
export const maxHardwareBodyBytes = 2 * 1024 * 1024

/** Names end with the unit, following W&B and DCGM; names of neither are `extra`. */
const ofGpu = [
  'util_pct',
  'mem_used_bytes',
  'mem_total_bytes',
  'mem_util_pct',
  'power_w',
  'power_limit_w',
  'temp_c',
  'sm_clock_mhz',
  'sm_active_pct',
  'tensor_active_pct',
  'nvlink_tx_bytes',
  'nvlink_rx_bytes',
  'pcie_tx_bytes',
  'pcie_rx_bytes',
  'ecc_corrected',
  'ecc_uncorrected',
] as const
const ofHost = [
  'cpu_pct',
  'disk_used_bytes',
  'disk_read_bps',
  'disk_write_bps',
  'net_tx_bps',
  'net_rx_bps',
  'load1',
  'proc_rss_bytes',
] as const
export const hardwareReadings: readonly string[] = [...ofGpu, ...ofHost]

type Reading = (typeof ofGpu)[number] | (typeof ofHost)[number]

const reading = () => Type.Optional(nullable(Type.Number({ minimum: 0 })))
const readings = Object.fromEntries(
  [...ofGpu, ...ofHost].map(name => [
    name,
    name === 'temp_c' ? Type.Optional(nullable(Type.Number())) : reading(),
  ]),
) as Record<Reading, ReturnType<typeof reading>>

/** Numbers under other names are kept; a point has at most 64 in total. */
const hardwarePoint = Type.Object(
  {
    ts: timestamp(),
    scope: oneOf('gpu', 'host'),
    node: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
    rank: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }))),
    index: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }))),
    uuid: Type.Optional(nullable(Type.String({ maxLength: 128 }))),
    throttle: Type.Optional(
      nullable(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 })),
    ),
    xid: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }))),
    ...readings,
  },
  {
    additionalProperties: nullable(Type.Number()),
    propertyNames: { type: 'string', minLength: 1, maxLength: 100, pattern: namePattern },
    maxProperties: 64,
  },
)
export type HardwarePointInput = Static<typeof hardwarePoint>

/** The body of `POST /api/ingest/hardware`. */
export const hardwareInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  points: Type.Array(hardwarePoint, { maxItems: maxHardwarePoints }),
  /** Interval between samples; informational only. */
  interval_s: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 86_400 }))),
  attempt: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
})
export type HardwareInput = Static<typeof hardwareInput>

export const hardwareReply = Type.Object({
  ok: Type.Literal(true),
  inserted: Type.Integer({ minimum: 0 }),
  control,
})

const instant = () => Type.Optional(Type.String({ minLength: 1, maxLength: 40 }))

/** `from` and `to` are inclusive: epoch milliseconds, or timestamps. */
export const hardwareQuery = closed({
  node: Type.Optional(Type.String({ maxLength: 256 })),
  index: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  scope: Type.Optional(oneOf('gpu', 'host')),
  /** Comma-separated names of readings; all of them otherwise. */
  keys: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
  from: instant(),
  to: instant(),
  buckets: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 200 })),
})

const place = {
  node: nullable(Type.String()),
  rank: nullable(Type.Integer()),
  index: nullable(Type.Integer()),
}

/** `[ts, min, max, mean, last]`; `ts` is epoch milliseconds: of the point, or where the bucket begins. */
const hardwareBucket = Type.Unsafe<readonly [number, number, number, number, number]>({
  type: 'array',
  items: { type: 'number' },
  minItems: 5,
  maxItems: 5,
})

const share = () => nullable(Type.Number())

/** Summary of one GPU in the requested time; null for unreported values. */
const gpuSummary = Type.Object({
  ...place,
  uuid: nullable(Type.String()),
  samples: Type.Integer(),
  util_mean_pct: share(),
  /** The share of its samples below `idle_below_pct`. */
  idle_share: share(),
  mem_peak_bytes: nullable(Type.Number()),
  mem_total_bytes: nullable(Type.Number()),
  power_mean_w: nullable(Type.Number()),
  temp_peak_c: nullable(Type.Number()),
  sm_clock_mean_mhz: nullable(Type.Number()),
  throttled_share: share(),
  throttle: Type.Array(Type.String()),
  xids: Type.Array(Type.Integer()),
})
export type GpuSummary = Static<typeof gpuSummary>

/** A GPU that lags behind the median of all GPUs in this reading. */
const straggler = Type.Object({
  ...place,
  key: oneOf('sm_clock_mean_mhz', 'util_mean_pct', 'power_mean_w'),
  value: Type.Number(),
  median: Type.Number(),
})
export type Straggler = Static<typeof straggler>

export const hardwareAnswer = Type.Object({
  /** The first and the last point within the time asked for, epoch milliseconds. */
  from: nullable(Type.Number()),
  to: nullable(Type.Number()),
  /** Length of each bucket; a bucket with a single sample has the time of that sample. */
  bucket_ms: Type.Number(),
  /** Dropped points: the run has reported more different GPUs and machines than the limit. */
  dropped: Type.Integer(),
  series: Type.Array(
    Type.Object({
      ...place,
      uuid: nullable(Type.String()),
      scope: oneOf('gpu', 'host'),
      /** The name of the reading. */
      key: Type.String(),
      /** Whether the name is unknown to Forge. */
      extra: Type.Boolean(),
      points: Type.Array(hardwareBucket),
    }),
  ),
  summary: Type.Object({
    idle_below_pct: Type.Number(),
    /** Over the samples of all GPUs. */
    idle_share: share(),
    gpus: Type.Array(gpuSummary),
    stragglers: Type.Array(straggler),
  }),
})
export type HardwareAnswer = Static<typeof hardwareAnswer>
