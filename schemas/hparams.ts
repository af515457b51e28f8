import { Type } from 'typebox'
import { byName, closed, timestamp } from './shared.ts'

const scalar = Type.Union([
  Type.String({ maxLength: 6000 }),
  Type.Number(),
  Type.Boolean(),
  Type.Null(),
])

/** The body of `POST /api/ingest/hparams`: flat, nested configuration is flattened with dots. */
export const hparamsInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  params: byName(scalar, { maxProperties: 2000 }),
})

export const hparamsReply = Type.Object({
  ok: Type.Literal(true),
  added: Type.Integer(),
  changed: Type.Integer(),
  total: Type.Integer(),
})

/** `GET /api/runs/{run_id}/hparams`: current values, and the newest 1,000 changes to values that were already set. */
export const hparamsAnswer = Type.Object({
  params: Type.Record(Type.String(), scalar),
  changes: Type.Array(
    Type.Object({ key: Type.String(), from: scalar, to: scalar, at: timestamp() }),
  ),
})
