import { type Static, Type } from 'typebox'
import { nullable } from '../shared.ts'

/**
 * A benchmark score of a revision's model next to that of the model it is compared with. `benchmark`: its name, with
 * `@<version>` if it has one. `delta`: `to` minus `from`, and `stderr` its standard error, as far as reported. `ok`: no
 * worse; more is better unless stated otherwise. `refuses`: it gates the deployment, and the score is worse by more than
 * one standard error.
 */
export const benchmarkDelta = Type.Object({
  benchmark: Type.String(),
  task: nullable(Type.String()),
  metric: Type.String(),
  from: Type.Number(),
  to: Type.Number(),
  delta: Type.Number(),
  stderr: nullable(Type.Number()),
  ok: Type.Boolean(),
  refuses: Type.Boolean(),
})
export type BenchmarkDelta = Static<typeof benchmarkDelta>
