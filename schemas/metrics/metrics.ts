import { type Static, Type } from 'typebox'
import { nameText, timestamp } from '../shared.ts'
import { isTimestamp } from '../timestamp.ts'

/** Exact in every language that reads JSON numbers as doubles. */
const safeInteger = () =>
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

/** JSON has no non-finite numbers: these strings stand for them in requests and responses. */
export const metricValue = () =>
  Type.Union([Type.Number(), Type.Enum(['NaN', 'Infinity', '-Infinity'])])

export const metricKey = () => nameText(250)

/** Whose points they are. */
export const reportHead = {
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
}

/** The body of `POST /api/ingest/metrics` (specification, "Metric point"); `ts` defaults to the time of receipt. */
export const metricsInput = Type.Object({
  ...reportHead,
  points: Type.Array(
    Type.Object({
      key: metricKey(),
      step: safeInteger(),
      value: metricValue(),
      ts: Type.Optional(timestamp()),
    }),
    { maxItems: 10_000 },
  ),
})
export type MetricsInput = Static<typeof metricsInput>

export const metricsReply = Type.Object({
  ok: Type.Literal(true),
  inserted: Type.Integer(),
  /** Absent where there is none. */
  warnings: Type.Optional(Type.Array(Type.Object({ code: Type.String(), detail: Type.String() }))),
})

/**
 * A fast check for the hot path, ten times as fast as the schema. True implies that the schema accepts the
 * body; after false the schema decides, and reports the faults.
 */
export function isPlainMetricsInput(body: unknown): body is MetricsInput {
  if (!isObject(body)) return false
  const { run_id, points, attempt } = body
  return (
    typeof run_id === 'string' &&
    run_id.length >= 1 &&
    run_id.length <= 128 &&
    (attempt === undefined || isAttempt(attempt)) &&
    Array.isArray(points) &&
    points.length <= 10_000 &&
    points.every(isPlainPoint)
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isAttempt = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000_000

function isPlainPoint(point: unknown): boolean {
  if (!isObject(point)) return false
  const { key, step, value, ts } = point
  return (
    typeof key === 'string' &&
    isPlainKey(key) &&
    Number.isSafeInteger(step) &&
    Number.isFinite(value) &&
    (ts === undefined || (typeof ts === 'string' && isTimestamp(ts)))
  )
}

/** Printable ASCII, as nearly all keys are. */
function isPlainKey(key: string): boolean {
  if (key.length === 0 || key.length > 250) return false
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    if (code < 32 || code > 126) return false
  }
  return true
}
