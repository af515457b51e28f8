import { Type } from 'typebox'
import { nullable, oneOf, timestamp } from './shared.ts'

/** How far a projection is behind its log, and how many records could not be applied. */
export const projectionRow = Type.Object({
  name: Type.String(),
  topic: Type.String(),
  generation: Type.Integer(),
  partitions: Type.Array(
    Type.Object({ partition: Type.Integer(), next_offset: Type.Integer(), end: Type.Integer() }),
  ),
  lag_records: Type.Integer(),
  parked: Type.Integer(),
  halted: nullable(Type.String()),
  last_applied_at: nullable(timestamp()),
})

export const rebuildStatus = Type.Object({
  state: oneOf('idle', 'running', 'succeeded', 'failed'),
  done_records: Type.Integer(),
  total_records: Type.Integer(),
  started_at: nullable(timestamp()),
  ended_at: nullable(timestamp()),
  error: nullable(Type.String()),
})

export const projectionList = Type.Object({
  projections: Type.Array(projectionRow),
  rebuild: rebuildStatus,
})

export const projectionPath = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }) })
