import { type Static, type TSchema, type TSchemaOptions, Type } from 'typebox'
import { closed, nameText, oneOf, printable, timestamp } from '../shared.ts'

/** The dialect this control plane speaks; any other is refused by the gate `dialect`, not by the schema. */
export const dialect = 'forge/v2'

export const jobSpecLimitBytes = 1024 * 1024

/** Defaults to null. Not a union, so that ajv fills nested defaults and reports one entry per fault. */
export const orNull = <S extends TSchema & { type: string }>(schema: S) =>
  Type.Unsafe<Static<S> | null>({ ...schema, type: [schema.type, 'null'], default: null })
const text = (maxLength: number, options: TSchemaOptions = {}) =>
  Type.String({ maxLength, ...options })
const some = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const whole = (minimum: number, maximum: number, fallback: number) =>
  Type.Integer({ minimum, maximum, default: fallback })
const list = <S extends TSchema>(items: S, maxItems: number) =>
  Type.Array(items, { maxItems, default: [] })
const word = <const W extends readonly string[]>(words: W, fallback: W[number]) =>
  Type.Unsafe<W[number]>({ type: 'string', enum: [...words], default: fallback })
/** An optional section that defaults to `{}`. */
const section = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false, default: {} })
const anything = () =>
  Type.Record(Type.String(), Type.Unknown(), { default: {}, maxProperties: 2000 })
const decimal = () => Type.String({ pattern: '^[0-9]{1,12}(\\.[0-9]{1,4})?$' })

/** A project name; it cannot start like a run id. */
export const projectName = () =>
  Type.String({ pattern: '^(?!run_)[a-z0-9][a-z0-9_.-]{0,62}$', maxLength: 63 })

/** How many tags a run has at most. */
export const maxTags = 64
export const tagList = () => Type.Array(nameText(64), { maxItems: maxTags })
export const tags = () => list(nameText(64), maxTags)
export const notes = () => text(16_384, { default: '' })
export const displayName = () => nameText(200)

const metadata = closed({
  name: displayName(),
  project: projectName(),
  team: orNull(nameText(63)),
  tags: tags(),
  notes: notes(),
  labels: Type.Record(Type.String({ pattern: `^${printable}{1,64}$` }), text(256), {
    default: {},
    maxProperties: 64,
    additionalProperties: false,
  }),
})

/** The recipe the job was written for; the gate `recipe_handshake` compares it with the catalogue. */
const lock = closed({
  name: some(128),
  version: some(128),
  digest: some(128),
  framework: closed({ runtime_id: some(128), name: orNull(text(128)), version: orNull(text(128)) }),
})

const source = section({
  kind: word(['recipe', 'package'], 'recipe'),
  upload_id: orNull(some(128)),
  digest: orNull(some(128)),
  size_bytes: orNull(Type.Integer({ minimum: 0 })),
  git: section({
    remote: orNull(text(2048)),
    commit: orNull(text(128)),
    dirty: Type.Boolean({ default: false }),
  }),
  /** Must be empty: the recipe owns the entrypoint (specification, "Gates that refuse POST /api/jobs"). */
  entrypoint: text(4096, { default: '' }),
})

const load = oneOf('weights', 'full_state')

/**
 * The starting point of training: an artifact, an artifact of a run, or a registered model. `load` may be the list
 * of ways an artifact can be loaded; its first entry counts.
 */
const initFrom = closed({
  artifact_id: orNull(some(128)),
  run_id: orNull(some(128)),
  model: orNull(some(256)),
  select: Type.Union(
    [
      oneOf('best', 'latest'),
      closed({ step: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
      Type.Null(),
    ],
    { default: null },
  ),
  load: Type.Union([load, Type.Array(load, { minItems: 1, maxItems: 2 })], { default: 'weights' }),
})

const dataset = closed({
  as: nameText(64),
  ref: some(256),
  split: orNull(some(64)),
  weight: Type.Number({ minimum: 0, default: 1 }),
})
const environment = closed({
  ref: some(256),
  digest: orNull(some(128)),
  weight: Type.Number({ minimum: 0, default: 1 }),
  args: anything(),
})
const benchmark = closed({
  ref: some(256),
  every_steps: orNull(Type.Integer({ minimum: 1 })),
  at_end: Type.Boolean({ default: true }),
})

/** Null fields take the value of the profile or the recipe. */
const resources = section({
  profile: orNull(some(128)),
  series: orNull(some(64)),
  /** Only a sanity bound; real limits are set by quotas. */
  nodes: whole(1, 100_000, 1),
  gpus_per_node: orNull(Type.Integer({ minimum: 0, maximum: 100_000 })),
  cpus: orNull(Type.Integer({ minimum: 1, maximum: 4096 })),
  memory_gb: orNull(Type.Number({ exclusiveMinimum: 0, maximum: 65_536 })),
  shm_gb: orNull(Type.Number({ minimum: 0, maximum: 65_536 })),
  disk_gb: orNull(Type.Number({ minimum: 0, maximum: 1_048_576 })),
  placement: word(['any', 'pack', 'spread'], 'any'),
})

/** Absolute, without empty parts, `.` and `..`, and not in a folder of the system. */
const mountPath =
  '^(?!/(?:bin|boot|dev|etc|lib|lib32|lib64|libx32|nix|opt|proc|root|run|sbin|sys|tmp|usr|var)(?:/|$))(?:/(?!\\.{1,2}(?:/|$))[^/\\u0000-\\u001f]+)+$'

const volume = closed({
  name: nameText(128),
  mount_path: Type.String({ minLength: 2, maxLength: 1024, pattern: mountPath }),
  read_only: Type.Boolean({ default: false }),
})

/** Names set by the platform are refused. */
const environmentVariables = Type.Record(
  Type.String({
    pattern:
      '^(?!SERVICE_|FORGE_|CUDA_VISIBLE_DEVICES$|CUDA_DEVICE_ORDER$)[A-Za-z_][A-Za-z0-9_]{0,127}$',
  }),
  text(32_768),
  { default: {}, maxProperties: 256, additionalProperties: false },
)

const scheduling = section({
  queue: word(['default'], 'default'),
  /** Higher starts first. */
  priority: whole(-100, 100, 0),
  preemptible: Type.Boolean({ default: true }),
  not_before: orNull(timestamp()),
})

const limits = section({
  max_duration_s: orNull(Type.Integer({ minimum: 1, maximum: 31_536_000 })),
  max_pending_s: orNull(Type.Integer({ minimum: 1, maximum: 31_536_000 })),
  max_cost: orNull(decimal()),
  stop_grace_s: whole(0, 3600, 300),
})

const retry = section({
  max_attempts: whole(1, 100, 1),
  on: Type.Array(oneOf('preemption', 'node_failure'), {
    maxItems: 2,
    default: ['preemption', 'node_failure'],
  }),
  backoff_s: whole(0, 86_400, 60),
  resume: word(['latest_checkpoint', 'none'], 'latest_checkpoint'),
})

/**
 * Which checkpoints of a run are kept: this many of the best and of the newest, and those at every nth step (0:
 * none).
 */
export const keepRules = () =>
  closed({
    best: whole(0, 1000, 1),
    latest: whole(0, 1000, 2),
    every_nth: whole(0, 1_000_000, 0),
  })

const checkpoints = section({
  every_steps: orNull(Type.Integer({ minimum: 1 })),
  /** Null: all checkpoints are kept. */
  keep: orNull(keepRules()),
  metric: orNull(closed({ key: some(250), goal: word(['max', 'min'], 'max') })),
})

/** Computed, because the linter mistakes an object with a literal `then` property for a promise. */
const consequence = 'then'

/** A condition and its action; `key`, `op` and `value` belong to `metric`, the other fields to `gpu_util`. */
const rule = closed({
  when: oneOf('metric', 'gpu_util'),
  key: orNull(some(250)),
  op: Type.Unsafe<'nonfinite' | '<' | '<=' | '>' | '>=' | null>({
    enum: ['nonfinite', '<', '<=', '>', '>=', null],
    default: null,
  }),
  value: orNull(Type.Number()),
  below: orNull(Type.Number({ minimum: 0, maximum: 100 })),
  for_s: orNull(Type.Integer({ minimum: 1, maximum: 86_400 })),
  [consequence]: Type.Array(oneOf('notify', 'diagnose', 'stop', 'pause'), {
    minItems: 1,
    maxItems: 4,
  }),
})

const work = section({
  source,
  params: anything(),
  model: orNull(closed({ ref: some(512), adapter: orNull(some(512)) })),
  init_from: orNull(initFrom),
  datasets: list(dataset, 100),
  environments: list(environment, 100),
  rubrics: list(closed({ ref: some(256) }), 100),
  benchmarks: list(benchmark, 100),
  resources,
  image: orNull(closed({ ref: some(512), digest: orNull(some(128)) })),
  volumes: list(volume, 64),
  env: environmentVariables,
  secrets: list(some(128), 64),
  scheduling,
  limits,
  retry,
  checkpoints,
  rules: list(rule, 64),
  outputs: section({ register_model: orNull(some(256)), push_to_hub: orNull(some(256)) }),
  approval: section({ plan_id: orNull(some(128)) }),
})

/**
 * A submitted job (dialect `forge/v2`): name and project under `metadata`, the exact recipe under `lock`, and
 * optional sections under `spec`. Unknown keys are refused at every level.
 */
export const jobSpec = closed({
  api: text(64),
  kind: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$', default: 'train' }),
  metadata,
  lock,
  spec: work,
})
export type JobSpec = Static<typeof jobSpec>

/** The labels with which a retry refers to the job it repeats, and a clone to the job whose JobSpec it copies. */
export const retryLabel = 'retry-of'
export const cloneLabel = 'clone-of'
