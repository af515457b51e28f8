import { type Static, Type } from 'typebox'
import { projectName } from '../jobs/jobspec.ts'
import { closed, namePattern, nullable, oneOf, pageQuery, timestamp } from '../shared.ts'
import { benchmarkDelta } from './benchmark-delta.ts'

export const deploymentStates = [
  'creating',
  'ready',
  'degraded',
  'suspending',
  'suspended',
  'resuming',
  'failed',
  'deleting',
  'deleted',
] as const
export type DeploymentState = (typeof deploymentStates)[number]

export const revisionStates = [
  'pending',
  'placing',
  'pulling',
  'loading',
  'checking',
  'ready',
  'retired',
  'failed',
] as const
export type RevisionState = (typeof revisionStates)[number]

const id = () => Type.String({ minLength: 1, maxLength: 128 })
const name = () => Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\p{C}]+$' })
const reason = () => Type.String({ maxLength: 1000, default: '' })
const secretHeader = closed({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9-]{0,63}$' }),
  /** Write-only: never returned. */
  value: Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
  }),
})

/**
 * What a revision serves: an artifact, the best or latest checkpoint of a run, a registered model (`name@alias` or
 * `name@version`), a model of the hub, or an engine that Forge does not run (`external`).
 */
export const sourceInput = closed({
  kind: oneOf('artifact', 'run', 'model', 'hub', 'external'),
  artifact_id: Type.Optional(id()),
  run_id: Type.Optional(id()),
  select: Type.Optional(oneOf('best', 'latest')),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  /** `hub:<org>/<name>[@<revision>]`, which is served at the commit that it names now. */
  hub_ref: Type.Optional(Type.String({ minLength: 1, maxLength: 384 })),
  /** The address of an external engine; ends before `/v1`. */
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  header: Type.Optional(secretHeader),
})
export type SourceInput = Static<typeof sourceInput>

/** The check that a revision must pass to become ready. */
const smoke = () => oneOf('chat', 'completion', 'embedding', 'models')

export const servingInput = closed({
  /** The serving template; none for an external engine. */
  template: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 200 })),
  args: Type.Optional(Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 100 })),
  tensor_parallel: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 })),
  served_names: Type.Optional(Type.Array(name(), { minItems: 1, maxItems: 20 })),
  profile: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  smoke: Type.Optional(smoke()),
})
export type ServingInput = Static<typeof servingInput>

const replicaBounds = {
  min: Type.Integer({ minimum: 0, maximum: 64 }),
  max: Type.Integer({ minimum: 1, maximum: 64 }),
}
const limits = {
  max_body_bytes: Type.Integer({ minimum: 1024, maximum: 1_073_741_824 }),
  timeout_s: Type.Integer({ minimum: 1, maximum: 86_400 }),
  max_concurrency: Type.Integer({ minimum: 1, maximum: 100_000 }),
}
export const defaultLimits = { max_body_bytes: 67_108_864, timeout_s: 600, max_concurrency: 256 }
export const defaultReplicas = { min: 1, max: 1 }

const autoscalingBounds = {
  /** Average number of concurrent requests per engine. */
  target: Type.Integer({ minimum: 1, maximum: 10_000 }),
  /** How long the load must stay above or below that before engines are started or ended, in seconds. */
  up_window_s: Type.Integer({ minimum: 1, maximum: 600 }),
  down_window_s: Type.Integer({ minimum: 1, maximum: 3600 }),
  /** The deployment is suspended after this long without a request; null: never. */
  idle_suspend_s: nullable(Type.Integer({ minimum: 10, maximum: 2_592_000 })),
}
const autoscalingFields = Type.Object(autoscalingBounds)
export type Autoscaling = Static<typeof autoscalingFields>
export const defaultAutoscaling: Autoscaling = {
  ...{ target: 16, up_window_s: 30, down_window_s: 600, idle_suspend_s: null },
}

/** `https://host[:port]`, or `*` for every origin. */
const origin = Type.String({ maxLength: 300, pattern: '^(\\*|https?://[^\\s/?#@\\\\]+)$' })

const changeable = {
  name: Type.Optional(name()),
  replicas: Type.Optional(
    closed({ min: Type.Optional(replicaBounds.min), max: Type.Optional(replicaBounds.max) }),
  ),
  limits: Type.Optional(
    closed({
      max_body_bytes: Type.Optional(limits.max_body_bytes),
      timeout_s: Type.Optional(limits.timeout_s),
      max_concurrency: Type.Optional(limits.max_concurrency),
    }),
  ),
  team: Type.Optional(nullable(Type.String({ maxLength: 63, pattern: namePattern }))),
  capture: Type.Optional(
    closed({
      enabled: Type.Optional(Type.Boolean()),
      sample_rate: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      retention_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
    }),
  ),
  autoscaling: Type.Optional(
    closed({
      metric: Type.Optional(Type.Literal('concurrency')),
      target: Type.Optional(autoscalingBounds.target),
      up_window_s: Type.Optional(autoscalingBounds.up_window_s),
      down_window_s: Type.Optional(autoscalingBounds.down_window_s),
      idle_suspend_s: Type.Optional(autoscalingBounds.idle_suspend_s),
    }),
  ),
  /** The origins whose web pages may call it (CORS); the list replaces the one before. */
  allowed_origins: Type.Optional(Type.Array(origin, { maxItems: 20, uniqueItems: true })),
}

/** The body of `POST /api/deployments`. `project` may be omitted if the source belongs to one. */
export const deploymentInput = closed({
  ...changeable,
  name: name(),
  project: Type.Optional(projectName()),
  source: sourceInput,
  serving: Type.Optional(servingInput),
})
export type DeploymentInput = Static<typeof deploymentInput>

/** The body of `PATCH /api/deployments/{deployment_id}`; absent fields keep their value. */
export const deploymentPatch = closed({
  ...changeable,
  /** Benchmarks, as `name@version`, whose scores a promotion must not lower; the list replaces the one before. */
  benchmark_gates: Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 140 }), { maxItems: 20, uniqueItems: true }),
  ),
})
export type DeploymentPatch = Static<typeof deploymentPatch>

/** The body of `POST /api/deployments/{deployment_id}/revisions`. `promote`: as soon as it is ready. */
export const revisionInput = closed({
  source: sourceInput,
  serving: Type.Optional(servingInput),
  promote: Type.Boolean({ default: false }),
})

/** Whether to proceed although benchmarks refuse it; for maintainers, who give a reason. */
export const overrideGates = () => Type.Boolean({ default: false })

export const promoteInput = closed({
  reason: reason(),
  /** The revision that the caller believes is promoted; absent if it does not matter. */
  expected_promoted_revision_id: Type.Optional(nullable(id())),
  override_gates: overrideGates(),
})
export const rollbackInput = closed({
  /** Null: the revision that was promoted before. */
  to: Type.Optional(nullable(id())),
  reason: reason(),
  override_gates: overrideGates(),
})
export const reasonInput = closed({ reason: reason() })
export const tokenInput = closed({
  name: name(),
  note: Type.String({ maxLength: 1000, default: '' }),
  /** Whether its requests and their responses are kept, for reflows (docs/use/reflow.md). Fixed for the life of the token. */
  capture: Type.Optional(Type.Boolean({ default: false })),
})
export const deleteQuery = closed({
  /** `true`: only reports what would break. */
  dry_run: Type.Optional(oneOf('true', 'false')),
})

export const deploymentPath = Type.Object({ deployment_id: id() })
export const revisionPath = Type.Object({ deployment_id: id(), revision_id: id() })
export const tokenPath = Type.Object({ deployment_id: id(), token_id: id() })

/** `digest`: of the artifact's bytes, where they are known. `hub_ref` has a commit. */
export const source = Type.Object({
  kind: oneOf('artifact', 'hub', 'external'),
  artifact_id: nullable(Type.String()),
  run_id: nullable(Type.String()),
  model: nullable(Type.String()),
  hub_ref: nullable(Type.String()),
  digest: nullable(Type.String()),
  url: nullable(Type.String()),
  header_name: nullable(Type.String()),
})
export type Source = Static<typeof source>

export const serving = Type.Object({
  template: nullable(Type.String()),
  template_version: nullable(Type.String()),
  template_digest: nullable(Type.String()),
  /** The platform for which the template's environment is built. */
  framework: nullable(
    Type.Object({
      runtime_id: Type.String(),
      name: Type.String(),
      version: Type.String(),
    }),
  ),
  engine: Type.String(),
  engine_version: nullable(Type.String()),
  image: Type.Null(),
  params: Type.Record(Type.String(), Type.Unknown()),
  args: Type.Array(Type.String()),
  tensor_parallel: Type.Integer({ minimum: 1 }),
  served_names: Type.Array(Type.String()),
  dtype: Type.Null(),
  quantization: Type.Null(),
  profile: nullable(Type.String()),
  chat_template: Type.Null(),
  smoke: smoke(),
})
export type Serving = Static<typeof serving>

export const check = Type.Object({
  name: Type.String(),
  ok: Type.Boolean(),
  latency_ms: Type.Integer({ minimum: 0 }),
  detail: nullable(Type.String()),
})
export type Check = Static<typeof check>

/** As a route returns it (contract: "Deployment and revision"); `traffic_24h` counts the last 24 hours. */
export const deployment = Type.Object({
  deployment_id: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  project: Type.String(),
  team: nullable(Type.String()),
  state: oneOf(...deploymentStates),
  state_reason: nullable(Type.String()),
  base_url: Type.String(),
  promoted_revision_id: nullable(Type.String()),
  previous_revision_id: nullable(Type.String()),
  revision_count: Type.Integer({ minimum: 0 }),
  replicas: Type.Object({
    ...replicaBounds,
    ready: Type.Integer({ minimum: 0 }),
    desired: Type.Integer({ minimum: 0 }),
  }),
  autoscaling: Type.Object({ metric: Type.Literal('concurrency'), ...autoscalingBounds }),
  limits: Type.Object(limits),
  /** Origins whose web pages may call it. */
  allowed_origins: Type.Array(Type.String()),
  /** Benchmarks, as `name@version`, whose scores a promotion must not lower. */
  benchmark_gates: Type.Array(Type.String()),
  /** The contents of requests and responses are not stored by any version yet. */
  capture: Type.Object({
    enabled: Type.Literal(false),
    sample_rate: Type.Literal(0),
    retention_days: Type.Integer(),
  }),
  token_count: Type.Integer({ minimum: 0 }),
  created_at: timestamp(),
  updated_at: timestamp(),
  suspended_at: nullable(timestamp()),
  suspended_by: nullable(Type.String()),
  /** The traffic of the last 24 hours. */
  traffic_24h: Type.Object({
    requests: Type.Integer(),
    errors: Type.Integer(),
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    ttft_ms_p50: nullable(Type.Number()),
    ttft_ms_p95: nullable(Type.Number()),
  }),
  /** Cost of its engines' jobs in the last 24 hours; null if Forge never ran one. */
  cost_24h: nullable(Type.String()),
})

export const revision = Type.Object({
  revision_id: Type.String(),
  deployment_id: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  state: oneOf(...revisionStates),
  state_reason: nullable(Type.String()),
  promoted: Type.Boolean(),
  source,
  serving,
  checks: Type.Array(check),
  /** Its benchmarks compared with the promoted revision; the promoted one is compared with its predecessor. */
  gates: Type.Array(benchmarkDelta),
  /** Its current and recent engines, newest first; at most 20. */
  engines: Type.Array(
    Type.Object({
      replica_id: Type.String(),
      /** Its job, whose log is the engine's log; null if Forge does not run it. */
      run_id: nullable(Type.String()),
      state: oneOf('starting', 'ready', 'failing', 'draining', 'ended'),
      started_at: timestamp(),
      last_error: nullable(Type.String()),
    }),
  ),
  load_s: nullable(Type.Number({ minimum: 0 })),
  ready_at: nullable(timestamp()),
  promoted_at: Type.Array(timestamp()),
  created_by: Type.String(),
  created_at: timestamp(),
})

/** One move of the pointer to the promoted revision. `kind`: why it moved. */
export const promotion = Type.Object({
  at: timestamp(),
  kind: oneOf('promoted', 'rolled_back'),
  revision_id: Type.String(),
  number: Type.Integer(),
  previous_revision_id: nullable(Type.String()),
  actor: Type.String(),
  reason: Type.String(),
  /** The fields of `serving` and `source` that differ from the previous revision. */
  diff: Type.Array(Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
  /** Benchmarks of both models, as last recorded. */
  benchmarks: Type.Array(benchmarkDelta),
  /** Why benchmarks refused it, if a maintainer promoted it nevertheless. */
  overridden: Type.Array(Type.String()),
})

export const token = Type.Object({
  token_id: Type.String(),
  name: Type.String(),
  note: Type.String(),
  prefix: Type.String(),
  capture: Type.Boolean(),
  created_by: Type.String(),
  created_at: timestamp(),
  revoked_at: nullable(timestamp()),
  /** When its last recorded request began; null: it was never used. */
  last_used_at: nullable(timestamp()),
  requests_24h: Type.Integer(),
})
/** `token` is shown only once; null in a replayed response. */
export const tokenCreated = Type.Object({
  token_id: Type.String(),
  name: Type.String(),
  prefix: Type.String(),
  token: nullable(Type.String()),
  capture: Type.Boolean(),
  created_at: timestamp(),
})
export const tokenRevoked = Type.Object({ ok: Type.Literal(true), revoked_at: timestamp() })

/** The response to a command on a deployment; further fields have their own route. */
export const deploymentChanged = Type.Object({
  deployment_id: Type.String(),
  state: oneOf(...deploymentStates),
  promoted_revision_id: nullable(Type.String()),
  previous_revision_id: nullable(Type.String()),
  changed: Type.Boolean(),
})
export const deploymentCreated = Type.Object({
  deployment_id: Type.String(),
  revision_id: Type.String(),
  state: oneOf(...deploymentStates),
  base_url: Type.String(),
})
export const revisionCreated = Type.Object({
  deployment_id: Type.String(),
  revision_id: Type.String(),
  number: Type.Integer(),
  state: oneOf(...revisionStates),
})
/** What a deletion ends together with the deployment. */
export const deletionReply = Type.Object({
  deployment_id: Type.String(),
  deleted: Type.Boolean(),
  breaks: Type.Object({
    base_url: Type.String(),
    tokens: Type.Array(Type.String()),
    revisions: Type.Integer(),
    replicas: Type.Integer(),
  }),
})

export const deploymentListQuery = closed({
  ...pageQuery,
  project: Type.Optional(projectName()),
  state: Type.Optional(oneOf(...deploymentStates)),
})
export const pageOfDeployment = closed(pageQuery)
