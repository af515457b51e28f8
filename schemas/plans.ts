import { type Static, Type } from 'typebox'
import { servingInput } from './deployments/deployments.ts'
import { estimate, gateResult, jobState, warning } from './jobs/jobs.ts'
import { jobSpec, orNull, projectName } from './jobs/jobspec.ts'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export const planLimits = {
  stages: 16,
  /** Runs of a sweep. */
  runs: 500,
  parallel: 100,
  /** Plans of a person that wait to be submitted. */
  waiting: 200,
  /** How long a plan may be submitted. */
  days: 7,
} as const

const stageName = () => Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$', maxLength: 63 })
const metricKey = () => Type.String({ minLength: 1, maxLength: 250 })
/** One of these; the first unless given. */
const word = <const W extends readonly [string, ...string[]]>(words: W) =>
  Type.Unsafe<W[number]>({ type: 'string', enum: [...words], default: words[0] })
const digest = () => Type.String({ minLength: 1, maxLength: 128 })

/** Either `values`, or the bounds of a range, which only random sweeps draw from. */
const sweepParam = closed({
  values: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: 500 })),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  /** `log`: the logarithm is drawn evenly. */
  scale: Type.Optional(oneOf('linear', 'log')),
  integer: Type.Optional(Type.Boolean()),
})
export type SweepParam = Static<typeof sweepParam>

const metric = closed({ key: metricKey(), goal: oneOf('min', 'max') })

const sweepInput = closed({
  method: oneOf('grid', 'random'),
  params: Type.Record(Type.String({ pattern: '^[^\\u0000-\\u001f]{1,128}$' }), sweepParam, {
    minProperties: 1,
    maxProperties: 32,
    additionalProperties: false,
  }),
  /** Runs of a random sweep. */
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: planLimits.runs })),
  seed: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 }),
  max_parallel: Type.Integer({ minimum: 1, maximum: planLimits.parallel, default: 4 }),
  /** Decides which run is the best one: a later stage starts from it. */
  metric: orNull(metric),
  /** Stops a run that is worse than the median of the others at the same step. */
  early_stop: orNull(
    closed({
      /** No run is stopped before this step. */
      min_step: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
      /** Nor before as many other runs came as far. */
      min_runs: Type.Integer({ minimum: 2, maximum: planLimits.runs, default: 3 }),
    }),
  ),
})
export type SweepInput = Static<typeof sweepInput>

const deployInput = closed({
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\p{C}]+$' }),
  /** The artifact of the stage before. */
  select: word(['latest', 'best']),
  serving: Type.Optional(servingInput),
})

/** Exactly one of `spec` and `deploy`; a sweep has a `spec` as well. */
const stageInput = closed({
  name: stageName(),
  spec: Type.Optional(jobSpec),
  sweep: orNull(sweepInput),
  deploy: orNull(deployInput),
  /** An earlier stage; its newest checkpoint is what the job starts from. */
  init_from_stage: orNull(stageName()),
  load: word(['weights', 'full_state']),
})
export type StageInput = Static<typeof stageInput>

/** The body of `POST /api/plans`: either one JobSpec or stages, each of which starts once the one before has succeeded. */
export const planInput = closed({
  /** The name of the first job unless given. */
  name: Type.Optional(nameText(200)),
  spec: Type.Optional(jobSpec),
  stages: Type.Optional(Type.Array(stageInput, { minItems: 1, maxItems: planLimits.stages })),
})
export type PlanInput = Static<typeof planInput>

/** `accept`: the digest of a plan after changes since it was made, as the 409 names it. */
export const planSubmitInput = closed({ accept: Type.Optional(nullable(digest())) })

const planId = () => Type.String({ minLength: 1, maxLength: 128 })
export const planPath = Type.Object({ plan_id: planId() })
export const planStates = [
  'draft',
  'ready',
  'submitted',
  'blocked',
  'succeeded',
  'cancelled',
  'expired',
] as const
export type PlanState = (typeof planStates)[number]
export const planListQuery = closed({
  ...pageQuery,
  project: Type.Optional(projectName()),
  state: Type.Optional(oneOf(...planStates)),
})
export const planRunsQuery = closed({ ...pageQuery, stage: Type.Optional(stageName()) })

export const stageKinds = ['job', 'sweep', 'deploy'] as const
export const stageStates = ['pending', 'running', 'succeeded', 'blocked'] as const
export type StageState = (typeof stageStates)[number]

/** What a gate relied on when the plan was looked at: a recipe, a price, the digest behind a reference, or a gate that refuses. */
export const seenFact = Type.Object({
  what: oneOf('recipe', 'price', 'profile', 'reference', 'gate'),
  name: Type.String(),
  is: Type.String(),
})
export type SeenFact = Static<typeof seenFact>

/** `from` is null for a new fact, `to` for one that is gone. */
export const movedFact = Type.Object({
  stage: Type.String(),
  what: seenFact.properties.what,
  name: Type.String(),
  from: nullable(Type.String()),
  to: nullable(Type.String()),
})
export type MovedFact = Static<typeof movedFact>

/** A stage as recorded: exactly the fields of its kind are not null. */
export const plannedStage = Type.Object({
  name: Type.String(),
  kind: oneOf(...stageKinds),
  spec: orNull(jobSpec),
  sweep: orNull(sweepInput),
  deploy: orNull(deployInput),
  init_from_stage: nullable(Type.String()),
  load: oneOf('weights', 'full_state'),
})
export type PlannedStage = Static<typeof plannedStage>

/** How the gates judged a stage. */
export const lookedStage = Type.Object({
  gates: Type.Array(gateResult),
  warnings: Type.Array(warning),
  estimate: nullable(estimate),
  seen: Type.Array(seenFact),
})
export type LookedStage = Static<typeof lookedStage>

const count = () => Type.Integer({ minimum: 0 })

export const planCreated = Type.Object({
  plan_id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  digest: Type.String(),
  state: oneOf(...planStates),
  gates: Type.Array(Type.Object({ stage: Type.String(), ...gateResult.properties })),
  warnings: Type.Array(Type.Object({ stage: Type.String(), ...warning.properties })),
  estimate: nullable(estimate),
  expires_at: timestamp(),
})
export type PlanCreated = Static<typeof planCreated>

export const planSubmitted = Type.Object({
  plan_id: Type.String(),
  digest: Type.String(),
  state: oneOf(...planStates),
  /** The runs of all stages, whether they have started or not; another submit returns the same. */
  submitted_run_ids: Type.Array(Type.String()),
})
export const planCancelled = Type.Object({
  plan_id: Type.String(),
  state: oneOf(...planStates),
})

const stageRow = Type.Object({
  name: Type.String(),
  kind: oneOf(...stageKinds),
  state: oneOf(...stageStates),
  /** Why it is blocked. */
  reason: nullable(Type.String()),
  runs: count(),
  succeeded: count(),
  /** Ended in another way. */
  failed: count(),
  deployment_id: nullable(Type.String()),
  best_run_id: nullable(Type.String()),
})

export const planRow = Type.Object({
  plan_id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  owner: Type.String(),
  digest: Type.String(),
  state: oneOf(...planStates),
  /** Why it is blocked. */
  reason: nullable(Type.String()),
  estimate: nullable(estimate),
  approval_id: nullable(Type.String()),
  stages: Type.Array(stageRow),
  created_at: timestamp(),
  expires_at: timestamp(),
  submitted_by: nullable(Type.String()),
  submitted_at: nullable(timestamp()),
  updated_at: timestamp(),
})
export type PlanRow = Static<typeof planRow>

export const planDetail = Type.Object({
  ...planRow.properties,
  stages: Type.Array(
    Type.Object({
      ...stageRow.properties,
      ...plannedStage.properties,
      ...lookedStage.properties,
    }),
  ),
  gates: planCreated.properties.gates,
  warnings: planCreated.properties.warnings,
  /** What changed since the plan was accepted. */
  moved: Type.Array(movedFact),
  submitted_run_ids: Type.Array(Type.String()),
})
export type PlanDetail = Static<typeof planDetail>

export const planRunRow = Type.Object({
  plan_id: Type.String(),
  stage: Type.String(),
  /** From 1 within the stage. */
  n: Type.Integer({ minimum: 1 }),
  run_id: Type.String(),
  /** The parameters that a sweep chose. */
  params: Type.Record(Type.String(), Type.Unknown()),
  /** Null until it has ended. */
  state: nullable(jobState()),
  reason: nullable(Type.String()),
  ended_at: nullable(timestamp()),
})
export type PlanRunRow = Static<typeof planRunRow>

/** The labels of runs that a plan started: `label.plan` finds all of them, with `label.plan-stage` those of a sweep. */
export const planLabel = 'plan'
export const stageLabel = 'plan-stage'
