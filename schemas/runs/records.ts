import { type Static, Type } from 'typebox'
import { jobState } from '../jobs/jobs.ts'
import { runStates } from '../jobs/states.ts'
import { metricValue } from '../metrics/metrics.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from '../shared.ts'

/** Maximum metrics, and hyperparameters, that a list request may name. */
export const maxAskedKeys = 30

/** Comma-separated names; commas and backslashes inside a name are escaped with a backslash. */
const askedKeys = () => Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 }))

/** Summary of one metric: extremes and mean over finite values, null if there are none. */
const summary = Type.Object({
  last: metricValue(),
  min: nullable(Type.Number()),
  max: nullable(Type.Number()),
  mean: nullable(Type.Number()),
  /** The greatest step; `last` is its value. */
  step: Type.Integer(),
  count: Type.Integer({ minimum: 0 }),
  nonfinite: Type.Integer({ minimum: 0 }),
})

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

const row = {
  run_id: Type.String(),
  short_id: Type.String(),
  name: nullable(Type.String()),
  project: Type.String(),
  owner: Type.String(),
  team: nullable(Type.String()),
  state: oneOf(...runStates),
  /** The state of its job, which is more precise; null for an external run. */
  job_state: nullable(jobState()),
  /** False for an external run. */
  job_exists: Type.Boolean(),
  source: oneOf('job', 'external'),
  created_at: timestamp(),
  started_at: nullable(timestamp()),
  ended_at: nullable(timestamp()),
  duration_s: nullable(Type.Integer({ minimum: 0 })),
  /** For people, in one line: why the run ended without success. Once a failed run is diagnosed, what the diagnosis found. */
  why: nullable(Type.String()),
  last_report_at: nullable(timestamp()),
  /** When an unfinished external run was last heard from, to half a minute, if that is more than two minutes ago. */
  silent_since: nullable(timestamp()),
  /** In lists at most 50: the metric of `best`, the sort key and those requested by `metrics`, then by name. */
  summary: Type.Record(Type.String(), summary),
  best: nullable(
    Type.Object({
      key: Type.String(),
      goal: oneOf('max', 'min'),
      value: nullable(Type.Number()),
      step: nullable(Type.Integer()),
      artifact_id: nullable(Type.String()),
    }),
  ),
  environment_digest: nullable(Type.String()),
  recipe: nullable(Type.Object({ name: Type.String(), version: Type.String() })),
  lineage: Type.Object({
    init_from: Type.Array(Type.String()),
    datasets: Type.Array(Type.String()),
    /** The RL environments that it uses; `environment_digest` is about its software. */
    environments: Type.Array(Type.Object({ ref: Type.String(), digest: Type.String() })),
    /** Runs that started from an artifact of this run. */
    children: Type.Array(Type.String()),
    models: Type.Array(Type.String()),
    deployments: Type.Array(Type.String()),
  }),
  counts: Type.Object({
    metric_keys: Type.Integer({ minimum: 0 }),
    points: Type.Integer({ minimum: 0 }),
    samples: Type.Integer({ minimum: 0 }),
    artifacts: Type.Integer({ minimum: 0 }),
    log_bytes: Type.Integer({ minimum: 0 }),
    alerts: Type.Integer({ minimum: 0 }),
  }),
  logs: Type.Object({ eof: Type.Boolean(), bytes: Type.Integer({ minimum: 0 }) }),
  tags: Type.Array(Type.String()),
  /** Markdown: of the JobSpec or `POST /api/runs`, replaced by `PATCH` and by MLflow's `mlflow.note.content`. */
  notes: Type.String(),
  starred: Type.Boolean(),
  archived: Type.Boolean(),
  deleted_at: nullable(timestamp()),
  /** Why it is still there although it was deleted and can no longer be restored; null: nothing keeps it. */
  kept_because: nullable(Type.String()),
}

/** A row of `GET /api/runs`. */
export const runRow = Type.Object({
  ...row,
  /** The hyperparameters requested by `hparams`, if the run has them. */
  hparams: Type.Optional(Type.Record(Type.String(), scalar)),
})
export type RunRow = Static<typeof runRow>

/** `GET /api/runs/{run_id}`. */
export const runRecord = Type.Object({
  ...row,
  hparams: Type.Record(Type.String(), scalar),
  /** The labels of its JobSpec, and MLflow's tags, which count first; without tags for MLflow itself (`mlflow.…`). */
  labels: Type.Record(Type.String(), Type.String()),
  /** Null until the run has ended, and if nobody reported or observed it. */
  exit_code: nullable(Type.Integer()),
  /** The signal that ended the process of its job. */
  signal: nullable(Type.String()),
  end_reason: nullable(Type.String()),
  /**
   * The message of its code about a failure (e.g. the exception), of a person about a stop, or of the executor about
   * a job that never ran.
   */
  message: nullable(Type.String()),
})

export const runListQuery = closed({
  ...pageQuery,
  /** Larger than in other lists: somebody may scroll through all runs. */
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  project: Type.Optional(Type.String({ maxLength: 128 })),
  state: Type.Optional(Type.String({ maxLength: 200 })),
  owner: Type.Optional(Type.String({ maxLength: 128 })),
  tag: Type.Optional(Type.String({ maxLength: 64 })),
  /** Only runs with, or without, a star. */
  starred: Type.Optional(Type.Boolean()),
  /** Only archived runs, or only others. */
  archived: Type.Optional(Type.Boolean()),
  /** Conditions, e.g. `state:failed loss<1.2 hparams.lr>=1e-5 (tag:grpo OR after:2026-11-01)` (docs/use/search.md). */
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  /** Lists deleted runs instead, which can be restored for 30 days. */
  deleted: Type.Optional(Type.Boolean()),
  since: Type.Optional(timestamp()),
  until: Type.Optional(timestamp()),
  /** A field, `metric:<key>:last|min|max` or `hparam:<key>`; a leading `-` sorts descending. */
  sort: Type.Optional(Type.String({ maxLength: 300 })),
  /** Metrics that `summary` always includes. */
  metrics: askedKeys(),
  /** Hyperparameters to include in `hparams` of the rows. */
  hparams: askedKeys(),
})
export type RunListQuery = Static<typeof runListQuery>

/** `GET /api/runs/{run_id}`. */
export const runQuery = closed({
  /** Finds the run only if it is deleted, for people who may restore it. */
  deleted: Type.Optional(Type.Boolean()),
})

/** `GET /api/runs/by-project`. */
export const runsByProjectQuery = closed({
  /** These are as of the list. */
  starred: Type.Optional(Type.Boolean()),
  archived: Type.Optional(Type.Boolean()),
  q: Type.Optional(Type.String({ maxLength: 1000 })),
})
export const runsOfProject = Type.Object({
  project: Type.String(),
  runs: Type.Integer({ minimum: 1 }),
})
export type RunsOfProject = Static<typeof runsOfProject>

/** `GET /api/runs/names`. */
export const runNamesQuery = closed({
  of: Type.Optional(oneOf('owners', 'tags', 'labels', 'metrics', 'hparams')),
  /** Matches anywhere in the name, ignoring case. */
  contains: Type.Optional(Type.String({ maxLength: 250 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
})
export type RunNamesQuery = Static<typeof runNamesQuery>
