import type { Plan, PlanEvent } from '../../events/plans.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { LookedStage, MovedFact } from '../../schemas/plans.ts'

type Data<T extends PlanEvent['type']> = Extract<PlanEvent, { type: T }>['data']
type Made = NonNullable<Plan>

export const noSuchPlan = (plan_id: string) => new Refusal('not_found', `No such plan: ${plan_id}`)

const named = ({ plan_id, owner, project, name }: Made) => ({ plan_id, owner, project, name })

export const createPlan = (plan: Plan, data: Data<'plan.created'>): PlanEvent[] =>
  plan ? [] : [{ type: 'plan.created', data }]

type Submitted = { digest: string; looked: LookedStage[]; submitted_by: string }

/** Changes nothing about a plan under way; a blocked one continues with the stage that blocked it. */
export function submitPlan(plan: Plan, submitted: Submitted, now: Date): PlanEvent[] {
  if (!plan) return []
  const { state } = plan
  if (state === 'submitted' || state === 'succeeded') return []
  refuseUnlessWaiting(plan, now)
  return [{ type: 'plan.submitted', data: { ...named(plan), ...submitted } }]
}

export function refuseUnlessWaiting({ state, expires_at }: Made, now: Date): void {
  if (state === 'cancelled') throw new Refusal('conflict', 'The plan was cancelled; make another')
  const isOver = state !== 'blocked' && Date.parse(expires_at) <= now.getTime()
  if (state === 'expired' || isOver)
    throw new Refusal('conflict', 'The plan has expired; make another', { code: 'plan.expired' })
}

/** The stage that starts next or is under way; -1: none is left. */
export const currentStage = ({ stages }: Made): number =>
  stages.findIndex(({ state }) => state !== 'succeeded')

/** What belongs to the next attempt of a stage. */
export type Started = Pick<Data<'plan.stage_started'>, 'attempt' | 'runs' | 'deployment_id'>

export function startStage(plan: Plan, nth: number, started: Started): PlanEvent[] {
  const stage = plan?.stages[nth]
  if (!plan || !stage || plan.state !== 'submitted') return []
  if (nth !== currentStage(plan) || stage.state !== 'pending') return []
  if (started.attempt !== stage.attempts + 1) return []
  return [{ type: 'plan.stage_started', data: { ...named(plan), stage: nth, ...started } }]
}

export type EndedRun = Pick<Data<'plan.run_ended'>, 'run_id' | 'state' | 'reason'>

/** A run ends once, whatever became of the plan meanwhile. */
export function endRun(plan: Plan, ended: EndedRun): PlanEvent[] {
  if (!plan) return []
  const stage = plan.stages.findIndex(({ runs }) =>
    runs.some(run => run.run_id === ended.run_id && run.ended === null),
  )
  return stage < 0 ? [] : [{ type: 'plan.run_ended', data: { ...named(plan), stage, ...ended } }]
}

/** `deployment_id`: only if the stage deploys it. */
export const stageOfDeployment = (plan: Made, deployment_id: string): number =>
  plan.stages.findIndex(stage => stage.deployment_id === deployment_id && stage.state === 'running')

export function succeedStage(plan: Plan, stage: number, best_run_id: string | null): PlanEvent[] {
  if (!isUnderWay(plan, stage)) return []
  return [{ type: 'plan.stage_succeeded', data: { ...named(plan), stage, best_run_id } }]
}

const isUnderWay = (plan: Plan, stage: number): plan is Made =>
  plan?.state === 'submitted' && plan.stages[stage]?.state === 'running'

export function blockPlan(
  plan: Plan,
  { stage, reason, moved = [] }: { stage: number; reason: string; moved?: MovedFact[] },
): PlanEvent[] {
  if (plan?.state !== 'submitted' || stage !== currentStage(plan)) return []
  return [{ type: 'plan.blocked', data: { ...named(plan), stage, reason, moved } }]
}

export function succeedPlan(plan: Plan): PlanEvent[] {
  if (plan?.state !== 'submitted' || currentStage(plan) >= 0) return []
  return [{ type: 'plan.succeeded', data: named(plan) }]
}

export function cancelPlan(plan: Plan, plan_id: string): PlanEvent[] {
  if (!plan) throw noSuchPlan(plan_id)
  if (plan.state === 'cancelled') return []
  if (plan.state === 'succeeded' || plan.state === 'expired')
    throw new Refusal('conflict', `The plan has ${plan.state} already`)
  return [{ type: 'plan.cancelled', data: named(plan) }]
}

export function expirePlan(plan: Plan): PlanEvent[] {
  if (!plan || !['draft', 'ready'].includes(plan.state)) return []
  return [{ type: 'plan.expired', data: named(plan) }]
}

export const liveRuns = (plan: Made): string[] =>
  plan.stages.flatMap(({ runs }) => runs.flatMap(run => (run.ended === null ? run.run_id : [])))
