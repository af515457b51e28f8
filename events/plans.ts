import { Type } from 'typebox'
import { endStates } from '../schemas/jobs/jobs.ts'
import { lookedStage, movedFact, type PlanState, plannedStage } from '../schemas/plans.ts'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

const named = {
  plan_id: Type.String(),
  owner: Type.String(),
  project: Type.String(),
  name: Type.String(),
}
/** The place of a stage, from 0. */
const stage = Type.Integer({ minimum: 0 })
const looked = Type.Array(lookedStage)

export const planCreated = event(
  'plan.created',
  Type.Object({
    ...named,
    digest: Type.String(),
    stages: Type.Array(plannedStage),
    looked,
    expires_at: Type.String(),
  }),
  ({ name, project }, who) => `${who} made the plan ${name} in project ${project}`,
)

/** The gates were asked again, and let it pass with this digest. Also continues a blocked plan. */
export const planSubmitted = event(
  'plan.submitted',
  Type.Object({ ...named, digest: Type.String(), looked, submitted_by: Type.String() }),
  ({ name }, who) => `${who} submitted the plan ${name}`,
)

/** From now on these runs, or this deployment, belong to the stage; none of them has started before. */
export const planStageStarted = event(
  'plan.stage_started',
  Type.Object({
    ...named,
    stage,
    attempt: Type.Integer({ minimum: 1 }),
    runs: Type.Array(
      Type.Object({ run_id: Type.String(), params: Type.Record(Type.String(), Type.Unknown()) }),
    ),
    deployment_id: nullable(Type.String()),
  }),
  ({ name, stage: nth }) => `stage ${nth + 1} of the plan ${name} started`,
)

export const planRunEnded = event(
  'plan.run_ended',
  Type.Object({
    ...named,
    stage,
    run_id: Type.String(),
    state: oneOf(...endStates),
    reason: nullable(Type.String()),
  }),
  ({ name, run_id, state }) => `run ${run_id} of the plan ${name} ${state}`,
)

/** `best_run_id`: of a sweep with a metric. */
export const planStageSucceeded = event(
  'plan.stage_succeeded',
  Type.Object({ ...named, stage, best_run_id: nullable(Type.String()) }),
  ({ name, stage: nth }) => `stage ${nth + 1} of the plan ${name} succeeded`,
)

/** Nothing more of it starts until it is submitted again. */
export const planBlocked = event(
  'plan.blocked',
  Type.Object({ ...named, stage, reason: Type.String(), moved: Type.Array(movedFact) }),
  ({ name, reason }) => `the plan ${name} is blocked: ${reason}`,
)

export const planSucceeded = event(
  'plan.succeeded',
  Type.Object(named),
  ({ name }) => `the plan ${name} succeeded`,
)

/** Its runs are stopped. */
export const planCancelled = event(
  'plan.cancelled',
  Type.Object(named),
  ({ name }, who) => `${who} cancelled the plan ${name}`,
)

export const planExpired = event(
  'plan.expired',
  Type.Object(named),
  ({ name }) => `the plan ${name} expired without having been submitted`,
)

const events = [
  planCreated,
  planSubmitted,
  planStageStarted,
  planRunEnded,
  planStageSucceeded,
  planBlocked,
  planSucceeded,
  planCancelled,
  planExpired,
] as const
export type PlanEvent = EventOf<(typeof events)[number]>
type Data<T extends PlanEvent['type']> = Extract<PlanEvent, { type: T }>['data']

type Created = Data<'plan.created'>
export type PlanRun = Data<'plan.stage_started'>['runs'][number] & {
  ended: Data<'plan.run_ended'>['state'] | null
}
export type Stage = Created['stages'][number] & {
  state: 'pending' | 'running' | 'succeeded' | 'blocked'
  /** How often it was started. */
  attempts: number
  /** The runs of the newest attempt. */
  runs: PlanRun[]
  deployment_id: string | null
  best_run_id: string | null
}

/** Null before it is created. */
export type Plan =
  | (Omit<Created, 'stages'> & {
      state: PlanState
      stages: Stage[]
      submitted_by: string | null
    })
  | null

function evolve(plan: Plan, event: PlanEvent): Plan {
  if (event.type !== 'plan.created') return plan && { ...plan, ...evolveExisting(plan, event) }
  const { data } = event
  const isReady = data.looked.every(({ gates }) => gates.every(({ ok }) => ok))
  const stages = data.stages.map(one => ({
    ...{ ...one, state: 'pending' as const, attempts: 0, runs: [] },
    ...{ deployment_id: null, best_run_id: null },
  }))
  return { ...data, state: isReady ? 'ready' : 'draft', stages, submitted_by: null }
}

type Made = NonNullable<Plan>

function evolveExisting(
  plan: Made,
  event: Exclude<PlanEvent, { type: 'plan.created' }>,
): Partial<Made> {
  switch (event.type) {
    case 'plan.submitted': {
      const { digest, looked, submitted_by } = event.data
      const stages = plan.stages.map(one =>
        one.state === 'blocked' ? { ...one, state: 'pending' as const } : one,
      )
      return { digest, looked, submitted_by, stages, state: 'submitted' }
    }
    case 'plan.stage_started': {
      const { attempt, deployment_id } = event.data
      const runs = event.data.runs.map(run => ({ ...run, ended: null }))
      return at(plan, event.data, { state: 'running', attempts: attempt, runs, deployment_id })
    }
    case 'plan.run_ended': {
      const { stage: nth, run_id, state: ended } = event.data
      const runs = plan.stages[nth]?.runs ?? []
      return at(plan, event.data, {
        runs: runs.map(run => (run.run_id === run_id ? { ...run, ended } : run)),
      })
    }
    case 'plan.stage_succeeded': {
      const { best_run_id } = event.data
      return at(plan, event.data, { state: 'succeeded', best_run_id })
    }
    case 'plan.blocked':
      return { ...at(plan, event.data, { state: 'blocked' }), state: 'blocked' }
    case 'plan.succeeded':
      return { state: 'succeeded' }
    case 'plan.cancelled':
      return { state: 'cancelled' }
    case 'plan.expired':
      return { state: 'expired' }
  }
}

const at = (
  { stages }: Made,
  { stage: nth }: { stage: number },
  change: Partial<Stage>,
): { stages: Stage[] } => ({
  stages: stages.map((one, index) => (index === nth ? { ...one, ...change } : one)),
})

export const plans = aggregate('plan', { events, initial: null, evolve, snapshot: { shape: 1 } })
export const planAt = (plan_id: string) => plans.at(plan_id)
