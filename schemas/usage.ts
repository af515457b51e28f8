import { type Static, Type } from 'typebox'
import { closed, oneOf, pageQuery, timestamp } from './shared.ts'

/** A UTC day, or any instant of it. */
const day = () => Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}([Tt ].*)?$', maxLength: 64 })

/** The days from `from` to `to`, both included; by default the last 30. */
export const usageQuery = closed({
  ...pageQuery,
  group: Type.Optional(oneOf('user', 'project', 'day')),
  from: Type.Optional(day()),
  to: Type.Optional(day()),
})
export type UsageQuery = Static<typeof usageQuery>

/** A row of `GET /api/usage`. `gpu_seconds` and `cost` are exact. */
export const usageRow = Type.Object({
  /** A username, a project, or a UTC day. */
  group: Type.String(),
  gpu_seconds: Type.Number(),
  gpu_hours: Type.String(),
  cost: Type.String(),
  currency: Type.String(),
  runs: Type.Integer({ minimum: 0 }),
})
export type UsageRow = Static<typeof usageRow>

/** Time at one price within one UTC day, of the bill of a job. */
export const billLine = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  starts_at: timestamp(),
  /** For a running attempt: now. */
  ends_at: timestamp(),
  price_per_gpu_hour: Type.String(),
  gpu_seconds: Type.Number(),
  cost: Type.String(),
})

/** The exact usage and cost of a job; its last `lines`, without withdrawn ones. */
export const bill = Type.Object({
  gpu_seconds: Type.Number(),
  cost: Type.String(),
  lines: Type.Array(billLine),
})
