import { Type } from 'typebox'
import { metricValue } from '../metrics/metrics.ts'
import { closed, nullable, oneOf, timestamp } from '../shared.ts'
import { runIdentity } from './identity.ts'

/** Minimum and maximum number of runs in a comparison. */
export const comparedRuns = { least: 2, most: 200 } as const
/** Maximum metrics of a comparison, by name. */
export const maxComparedMetrics = 500
/** Maximum differences between environments, by name. */
export const maxComparedFacts = 500
/** Maximum hyperparameters of a comparison, by name, and values of them in all runs together, as characters of JSON. */
export const maxComparedHparams = { keys: 2_000, characters: 4_000_000 } as const

/** `ids`: ids or short ids, separated by commas. */
export const compareQuery = closed({
  ids: Type.String({ minLength: 1, maxLength: 14_000 }),
  /** `all` also returns values that are the same in all runs. */
  rows: Type.Optional(oneOf('differing', 'all')),
  /** `skip` ignores missing runs as long as two are left; by default a missing run is a 404. */
  missing: Type.Optional(oneOf('refuse', 'skip')),
})

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** `values` in the order of `runs`; null for a run without it. */
const difference = (value = scalar) =>
  Type.Array(Type.Object({ key: Type.String(), values: Type.Array(value) }))

/** `GET /api/runs/compare`: what differs between runs, and where their common metrics ended. */
export const comparison = Type.Object({
  runs: Type.Array(
    Type.Object({
      ...runIdentity,
      started_at: nullable(timestamp()),
      ended_at: nullable(timestamp()),
    }),
  ),
  /** The ids of the request that were skipped. */
  missing: Type.Array(Type.String()),
  /** At most 2,000 by name, fewer if their values have more than 4,000,000 characters in all. */
  hparams: difference(),
  /** How many more hyperparameters differ. */
  hparams_left_out: Type.Integer(),
  /** Facts such as `packages.torch`, at most 500, between the runs that reported their environment. */
  environment: difference(),
  /** Recipe, datasets and the artifacts that the runs started from. */
  data: difference(),
  /** The metrics that all of them have, by name, at most 500. */
  metrics: Type.Array(
    Type.Object({
      key: Type.String(),
      last: Type.Array(metricValue()),
      /** Whether less or more is better: as given by a spec; otherwise less if the name says loss or error. */
      goal: oneOf('min', 'max'),
      best: Type.Array(nullable(Type.Number())),
    }),
  ),
})
