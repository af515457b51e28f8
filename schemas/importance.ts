import { type Static, Type } from 'typebox'
import { closed, nullable } from './shared.ts'

export const importanceLimits = { runs: 2_000, hparams: 50, trees: 100 } as const

/** `GET /api/projects/{name}/importance`. */
export const importanceQuery = closed({
  /** `<key>:last`, `<key>:min` or `<key>:max`. */
  metric: Type.String({ minLength: 1, maxLength: 300 }),
  /** Conditions on runs, as of `GET /api/runs`. */
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  /** The same seed gives the same importances for the same runs. */
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0 })),
})

const hparamImportance = Type.Object({
  key: Type.String(),
  /** Runs that have it. */
  runs: Type.Integer(),
  distinct: Type.Integer(),
  /** Its share of the variance that a random forest explains; all shares add up to 1. */
  importance: Type.Number(),
  /** Over the runs that have it; null unless all of its values are numbers, or true and false. */
  correlation: nullable(Type.Object({ pearson: Type.Number(), spearman: Type.Number() })),
})
export type HparamImportance = Static<typeof hparamImportance>

export const importance = Type.Object({
  /** Runs that match; 10,001 stands for more than 10,000. */
  matched: Type.Integer(),
  /** The newest ones with a finite value of the metric, which are compared. */
  runs: Type.Integer(),
  /** The most important first: hyperparameters that differ between the runs, at most 50. */
  hparams: Type.Array(hparamImportance),
  /** How many more differ. */
  left_out: Type.Integer(),
})
