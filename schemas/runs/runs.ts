import { type Static, Type } from 'typebox'
import { tagList } from '../jobs/jobspec.ts'
import { closed, nameText, nullable, oneOf, timestamp } from '../shared.ts'

/** Names are used in URLs; the prefix `run_` is reserved for run ids. */
const namePattern = '^(?!run_)[a-z0-9][a-z0-9_.-]{0,62}$'
export const projectName = () => Type.String({ pattern: namePattern, maxLength: 63 })
export const isProjectName = (name: string): boolean => new RegExp(namePattern).test(name)

/** The project of a text that need not be a valid name, such as that of a folder; empty if nothing is left of it. */
export const projectNameOf = (text: string): string =>
  isProjectName(text)
    ? text
    : text
        .toLowerCase()
        .replaceAll(/[^a-z0-9_.-]+/g, '-')
        .replace(/^(?:[^a-z0-9]|run_)+/, '')
        .slice(0, 63)
        .replace(/[-.]+$/, '')

/** The body of `POST /api/runs`: a run without a job, for code that runs elsewhere. */
export const runInput = closed({
  project: projectName(),
  name: Type.Optional(nullable(nameText(256))),
  tags: Type.Optional(tagList()),
  notes: Type.Optional(Type.String({ maxLength: 10_000 })),
})
export type RunInput = Static<typeof runInput>

/** The body of `PATCH /api/runs/{run_id}`; omitted fields keep their values. Only an external run can lose its name (null). */
export const runChange = closed({
  name: Type.Optional(nullable(nameText(256))),
  tags: Type.Optional(tagList()),
  notes: Type.Optional(Type.String({ maxLength: 16_384 })),
  starred: Type.Optional(Type.Boolean()),
  archived: Type.Optional(Type.Boolean()),
})
export type RunChange = Static<typeof runChange>

/** The run as changed. */
export const runChangeReply = Type.Object({
  run_id: Type.String(),
  name: nullable(Type.String()),
  tags: Type.Array(Type.String()),
  notes: Type.String(),
  starred: Type.Boolean(),
  archived: Type.Boolean(),
})
export type RunChangeReply = Static<typeof runChangeReply>

/** The body of `POST /api/ingest/description`: running code describes its run; omitted fields keep their values. */
export const runDescription = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  name: Type.Optional(nameText(256)),
  /** Replaces all tags. */
  tags: Type.Optional(tagList()),
  /** Tags that it gets in addition to those it has; at most `maxTags` in all are kept. */
  add_tags: Type.Optional(tagList()),
  notes: Type.Optional(Type.String({ maxLength: 16_384 })),
})
export type Description = Omit<Static<typeof runDescription>, 'run_id'>

/** As described now. */
export const runDescriptionReply = Type.Object({
  ok: Type.Literal(true),
  name: nullable(Type.String()),
  tags: Type.Array(Type.String()),
  notes: Type.String(),
})

/** The four variables a reporting process reads (specification, "Environment variables"), and MLflow's for the same. */
export const reportingEnvironment = Type.Object({
  SERVICE_ENABLED: Type.String(),
  SERVICE_ENDPOINT: Type.String(),
  SERVICE_RUN_ID: Type.String(),
  SERVICE_TOKEN: nullable(Type.String()),
  MLFLOW_TRACKING_URI: Type.String(),
  MLFLOW_TRACKING_TOKEN: nullable(Type.String()),
  MLFLOW_RUN_ID: Type.String(),
})

/** `baseUrl`: of this installation, without a trailing slash. */
export const reportingTo = <T extends string | null>(
  baseUrl: string,
  { run_id, token }: { run_id: string; token: T },
) => ({
  own: {
    SERVICE_ENABLED: '1',
    SERVICE_ENDPOINT: `${baseUrl}/api/ingest`,
    SERVICE_RUN_ID: run_id,
    SERVICE_TOKEN: token,
  },
  mlflow: {
    MLFLOW_TRACKING_URI: `${baseUrl}/api/ingest/mlflow`,
    MLFLOW_TRACKING_TOKEN: token,
    MLFLOW_RUN_ID: run_id,
  },
})

/**
 * For the Hub's clients in a run, which read and write here with the rights of its owner; none if `env`, the job's own, names
 * another Hub, which must not get the token of the run, or a token for one. Forge has no Xet storage.
 */
export const hubVariables = (
  env: Readonly<Record<string, string>>,
  { baseUrl, token }: { baseUrl: string; token: string },
) =>
  'HF_ENDPOINT' in env || 'HF_TOKEN' in env
    ? {}
    : { HF_ENDPOINT: `${baseUrl}/api/ingest/hub`, HF_TOKEN: token, HF_HUB_DISABLE_XET: '1' }

/** `token` is the run's ingest token, shown once; null in a replayed response. */
export const runCreated = Type.Object({
  run_id: Type.String(),
  short_id: Type.String(),
  project: Type.String(),
  token: nullable(Type.String()),
  expires_at: timestamp(),
  env: reportingEnvironment,
  url: Type.String(),
})

/** The body of `POST /api/runs/{run_id}/stop`. */
export const runStop = closed({
  reason: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
  /** End the run now, regardless of its code; the code is asked to exit at once. */
  force: Type.Optional(Type.Boolean({ default: false })),
})

/** `already`: an earlier request had asked for it; `deadline` is null, because only the code itself can end. */
export const runStopReply = Type.Object({
  run_id: Type.String(),
  state: Type.String(),
  accepted: Type.Literal(true),
  already: Type.Boolean(),
  deadline: nullable(timestamp()),
})

/**
 * References to a run: jobs that started from an artifact of it, repeat it (retry) or were copied from it (clone). At
 * most 100 that the caller may read; `references_total` also counts hidden ones.
 */
export const runDeleted = Type.Object({
  run_id: Type.String(),
  deleted_at: timestamp(),
  restorable_until: timestamp(),
  references: Type.Array(
    Type.Object({
      kind: oneOf('init_from', 'retry', 'clone'),
      run_id: Type.String(),
      short_id: Type.String(),
      artifact_id: nullable(Type.String()),
    }),
  ),
  references_total: Type.Integer({ minimum: 0 }),
})
export type RunDeleted = Static<typeof runDeleted>

/** `already`: the run was not deleted. */
export const runRestored = Type.Object({
  run_id: Type.String(),
  restored: Type.Literal(true),
  already: Type.Boolean(),
})

export const tokenIssued = Type.Object({
  run_id: Type.String(),
  token: nullable(Type.String()),
  expires_at: timestamp(),
  env: reportingEnvironment,
})

export const lifecycleEvents = ['starting', 'running', 'succeeded', 'failed'] as const

/** The body of `POST /api/ingest/lifecycle`; `ts` defaults to the time of receipt. */
export const lifecycleInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  event: oneOf(...lifecycleEvents),
  ts: Type.Optional(timestamp()),
  attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  rank: Type.Optional(Type.Integer({ minimum: 0 })),
  exit_code: Type.Optional(nullable(Type.Integer())),
  message: Type.Optional(nullable(Type.String({ maxLength: 6000 }))),
  phase: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
})
export type LifecycleReport = Static<typeof lifecycleInput>

/** A request to the running code, delivered in the responses to its reports. */
export const control = Type.Object({
  action: oneOf('none', 'checkpoint_and_exit', 'exit'),
  reason: nullable(Type.String()),
  deadline: nullable(timestamp()),
})

/** `applied` is false for a report that arrived too late; `duplicate` is true for a repeated one. */
export const lifecycleReply = Type.Object({
  ok: Type.Literal(true),
  run_id: Type.String(),
  event: oneOf(...lifecycleEvents),
  state: Type.String(),
  applied: Type.Boolean(),
  duplicate: Type.Boolean(),
  billing_started_at: nullable(timestamp()),
  control,
})
export type LifecycleReply = Static<typeof lifecycleReply>
