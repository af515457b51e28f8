import { type Static, Type } from 'typebox'
import { runStates } from './jobs/states.ts'
import { closed, nullable, oneOf } from './shared.ts'

export const seriesLimits = {
  keys: 50,
  /** Runs that are drawn, each as a curve or in groups; the newest ones if more match. */
  runs: 200,
  runsInGroups: 500,
  groups: 50,
  /** Buckets of all curves of a response together; each gets fewer if it would exceed this. */
  buckets: 4_000_000,
} as const

/** `GET /api/projects/{name}/series`. */
export const projectSeriesQuery = closed({
  /** Separated by commas; commas and backslashes in a name follow a backslash. */
  keys: Type.String({ minLength: 1, maxLength: 20_000 }),
  /** `state`, `recipe`, `tag` or `hparams.<key>`. */
  group: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  x: Type.Optional(oneOf('step', 'time', 'relative')),
  buckets: Type.Optional(Type.Integer({ minimum: 2, maximum: 2_000, default: 1000 })),
  /** Conditions on runs, as of `GET /api/runs`. */
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  /** Only these runs, by id or short id, separated by commas. */
  runs: Type.Optional(Type.String({ minLength: 1, maxLength: 70_000 })),
  /** Both included and widened to whole buckets: steps, epoch milliseconds, or milliseconds since each run's start. */
  from: Type.Optional(Type.Number()),
  to: Type.Optional(Type.Number()),
  band: Type.Optional(oneOf('minmax', 'std')),
})
export type ProjectSeriesQuery = Static<typeof projectSeriesQuery>

const numbers = () => Type.Array(nullable(Type.Number()))

const curve = Type.Object({
  /** Index in `runs`, or in `groups` if there is a `group`. */
  of: Type.Integer(),
  /** Index in `x` of the same key. */
  x: Type.Integer(),
  /** Null for a bucket without finite values. */
  mean: numbers(),
  low: Type.Optional(numbers()),
  high: Type.Optional(numbers()),
  /** How many runs of a group each bucket averages. */
  runs: Type.Optional(Type.Array(Type.Integer())),
  /** Over the last values of a group's runs, as far as they are finite. */
  last: Type.Optional(
    Type.Object({
      mean: nullable(Type.Number()),
      /** The sample standard deviation (n − 1), 0 for one run. */
      std: nullable(Type.Number()),
      runs: Type.Integer(),
    }),
  ),
})

const drawnRun = Type.Object({
  run_id: Type.String(),
  short_id: Type.String(),
  name: nullable(Type.String()),
  state: oneOf(...runStates),
  /** How many reports with metrics it has made: while this stays the same, so do its curves. */
  reports: Type.Integer(),
})

const group = Type.Object({
  /** Null for runs without a value. */
  value: nullable(Type.String()),
  /** Indexes in `runs`. */
  runs: Type.Array(Type.Integer()),
})

export const projectSeries = Type.Object({
  /** Runs that match; 10,001 stands for more than 10,000. `runs` are the newest of them. */
  matched: Type.Integer(),
  runs: Type.Array(drawnRun),
  /** The largest first, at most 50; null if the request names no group. */
  groups: nullable(Type.Array(group)),
  /** The groups that were left out, and how many runs are in them. */
  left_out: Type.Object({ groups: Type.Integer(), runs: Type.Integer() }),
  keys: Type.Array(
    Type.Object({
      key: Type.String(),
      /** Width of a bucket along the axis; 0 if there are no points. */
      width: Type.Number(),
      /** Positions of the buckets, each list used by one or more curves. */
      x: Type.Array(Type.Array(Type.Number())),
      curves: Type.Array(curve),
    }),
  ),
})
export type ProjectSeries = Static<typeof projectSeries>

/** `GET /api/projects/{name}/metric-keys`. */
export const metricKeysQuery = closed({ q: Type.Optional(Type.String({ maxLength: 1000 })) })

export const projectMetricKeys = Type.Object({
  /** Runs that match; 10,001 stands for more than 10,000. */
  matched: Type.Integer(),
  /** The newest ones, from which the keys are gathered. */
  gathered: Type.Integer(),
  /** How many keys begin with the prefix and a slash; an empty prefix for keys without a slash. */
  sections: Type.Array(Type.Object({ prefix: Type.String(), keys: Type.Integer() })),
  keys: Type.Array(Type.Object({ key: Type.String(), runs: Type.Integer() })),
})

/** `GET /api/projects/{name}/hparam-keys`. */
export const hparamKeysQuery = closed({ q: Type.Optional(Type.String({ maxLength: 1000 })) })

export const projectHparamKeys = Type.Object({
  /** Runs that match; 10,001 stands for more than 10,000. */
  matched: Type.Integer(),
  /** The newest ones, from which the hyperparameters are gathered. */
  gathered: Type.Integer(),
  /** At most 500, those with the most runs; sorted by name. */
  keys: Type.Array(
    Type.Object({
      key: Type.String(),
      runs: Type.Integer(),
      distinct: Type.Integer(),
      /** Whether all of its values are numbers. */
      numeric: Type.Boolean(),
    }),
  ),
  /** How many more there are. */
  left_out: Type.Integer(),
})
