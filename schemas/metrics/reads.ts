import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf } from '../shared.ts'
import { metricValue } from './metrics.ts'

const numberOrNull = () => nullable(Type.Number())

export const metricKeyRow = Type.Object({
  key: Type.String(),
  /** Distinct steps. */
  count: Type.Integer(),
  last: metricValue(),
  min: numberOrNull(),
  max: numberOrNull(),
  first_step: Type.Integer(),
  last_step: Type.Integer(),
})

/** `[step, min, max, mean, last, ts]`; `ts` is epoch milliseconds. */
const bucketTuple = Type.Tuple([
  Type.Integer(),
  numberOrNull(),
  numberOrNull(),
  numberOrNull(),
  metricValue(),
  Type.Number(),
])

// One schema for all six elements: few tools can read tuples nested in lists.
const bucketPoint = Type.Unsafe<Static<typeof bucketTuple>>({
  type: 'array',
  items: {
    anyOf: [{ type: 'number' }, { enum: ['NaN', 'Infinity', '-Infinity'] }, { type: 'null' }],
  },
  minItems: 6,
  maxItems: 6,
})

export const metricSeries = Type.Object({
  key: Type.String(),
  /** False when each point is a single reported value. */
  bucketed: Type.Boolean(),
  points: Type.Array(bucketPoint),
  /** `[step, count]` of non-finite values. */
  nonfinite: Type.Array(
    Type.Unsafe<[number, number]>({
      type: 'array',
      items: { type: 'integer' },
      minItems: 2,
      maxItems: 2,
    }),
  ),
})

/** Comma-separated names; commas and backslashes inside a name are escaped with a backslash. */
const keys = () => Type.String({ minLength: 1, maxLength: 20_000 })

/** `from` and `to` are inclusive: steps, or epoch milliseconds with `x=time`. */
export const seriesQuery = closed({
  keys: keys(),
  from: Type.Optional(Type.Number()),
  to: Type.Optional(Type.Number()),
  buckets: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1000 })),
  x: Type.Optional(oneOf('step', 'time')),
})

export const exportQuery = closed({
  format: Type.Optional(oneOf('csv', 'jsonl')),
  keys: Type.Optional(keys()),
})

export const pointStreamQuery = closed({
  keys: Type.Optional(keys()),
  after: Type.Optional(Type.String({ maxLength: 64 })),
})
