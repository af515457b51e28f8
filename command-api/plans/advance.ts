import type { Submitter } from '../../auth/caller.ts'
import { type Plan, planAt, type Stage } from '../../events/plans.ts'
import { Refusal } from '../../platform/refusal.ts'
import { endStates } from '../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import { planLabel, type SeenFact, stageLabel } from '../../schemas/plans.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { newestCheckpoint } from '../rules/newest-checkpoint.ts'
import { wasApproved } from './approval.ts'
import { movedIn, movedText } from './compare.ts'
import {
  blockPlan,
  currentStage,
  liveRuns,
  startStage,
  succeedPlan,
  succeedStage,
} from './decide.ts'
import { bestOf } from './early-stop.ts'
import { ended } from './follow.ts'
import { nextParts } from './part-ids.ts'
import { Moved, type PlanParts, type ReadCurves } from './ports.ts'
import { savePlan } from './rows.ts'

export type AdvanceDeps = Pick<Deps, 'store' | 'pool' | 'logger'> & {
  planParts: PlanParts
  readCurves: ReadCurves
}

type Payload = { plan_id: string }
type Made = NonNullable<Plan>

const steps: ReadonlySet<string> = new Set([
  'plan.submitted',
  'plan.stage_started',
  'plan.run_ended',
  'plan.stage_succeeded',
  'plan.cancelled',
])

/**
 * Takes the next step of a plan. Each step is recorded before it has effects, runs and deployments have the ids that were
 * recorded, and a repeated step finds them: whatever is killed, each stage runs once.
 */
export const planAdvancer = reactor<Payload, AdvanceDeps>({
  name: 'advance-plans',
  repeat: 'ask first',
  dutiesOf({ type, data }) {
    return steps.has(type) && 'plan_id' in data ? [{ payload: { plan_id: data.plan_id } }] : []
  },
  deadlineMs: 120_000,
  renewMs: 2000,
  attempts: 10,
  perform: ({ payload: { plan_id } }, deps, signal) => advance(deps, plan_id, signal),
  async givenUp({ payload: { plan_id } }, { store }) {
    const { state: plan } = await loadState(store, undefined, planAt(plan_id))
    if (!plan) return nothing
    const reason = 'an internal fault; the log of the server has it'
    return [blocked(plan, { stage: currentStage(plan), reason })]
  },
})

async function advance(deps: AdvanceDeps, plan_id: string, signal: AbortSignal): Promise<Outcome> {
  const { state: plan } = await loadState(deps.store, undefined, planAt(plan_id))
  if (plan?.state === 'cancelled') return stopAll(deps, plan)
  if (plan?.state !== 'submitted') return nothing
  const target = planAt(plan_id)
  const nth = currentStage(plan)
  const stage = plan.stages[nth]
  if (!stage) return [decided(target, { decide: succeedPlan, alongside: savePlan })]
  if (stage.state === 'pending') {
    const started = nextParts(plan, stage)
    return [decided(target, { decide: now => startStage(now, nth, started), alongside: savePlan })]
  }
  try {
    const step: Step = { plan, nth, stage, caller: await submitterOf(deps, plan), signal }
    return stage.kind === 'deploy' ? await deploy(deps, step) : await runStage(deps, step)
  } catch (error) {
    if (error instanceof Moved) {
      const moved = movedIn(stage.name, plan.looked[nth]?.seen ?? [], error.seen)
      const reason = `what was accepted has changed: ${moved.map(movedText).join('; ')}`
      return [blocked(plan, { stage: nth, reason, moved })]
    }
    if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
    return [blocked(plan, { stage: nth, reason: error.message })]
  }
}

const blocked = ({ plan_id }: Made, why: Parameters<typeof blockPlan>[1]): Change =>
  decided(planAt(plan_id), { decide: plan => blockPlan(plan, why), alongside: savePlan })

/** Rights may end while a plan runs. */
async function submitterOf({ pool }: AdvanceDeps, { submitted_by }: Made): Promise<Submitter> {
  const username = submitted_by ?? ''
  const role = await roleIfEnabled(pool, username)
  if (role === null) throw new Refusal('forbidden', `${username} may no longer sign in`)
  return { kind: 'person', username, role, via: 'plan' }
}

async function stopAll({ planParts }: AdvanceDeps, plan: Made): Promise<Outcome> {
  for (const run_id of liveRuns(plan)) await planParts.stop(run_id, 'its plan was cancelled')
  return nothing
}

type Step = { plan: Made; nth: number; stage: Stage; caller: Submitter; signal: AbortSignal }

async function deploy({ planParts }: AdvanceDeps, step: Step): Promise<Outcome> {
  const { plan, nth, stage, caller } = step
  const { deployment_id } = stage
  const from = plan.stages[nth - 1]
  if (!stage.deploy || deployment_id === null || !from) return nothing
  const { project } = plan
  const run_id = runToContinue(from)
  await planParts.deploy({ deployment_id, project, run_id, deploy: stage.deploy, caller })
  return nothing
}

/** The run of a stage from which a later one continues. */
function runToContinue({ name, kind, runs, best_run_id }: Stage): string {
  const run_id = kind === 'sweep' ? best_run_id : runs[0]?.run_id
  if (!run_id) throw new Refusal('invalid', `Stage ${name} has no run to continue from`)
  return run_id
}

/** Submits as many runs as may run at once, and ends the stage once all have ended. */
async function runStage(deps: AdvanceDeps, step: Step): Promise<Outcome> {
  const { plan, nth, stage, signal } = step
  const { planParts } = deps
  const states = await planParts.statesOf(stage.runs.map(({ run_id }) => run_id))
  const missed = stage.runs.flatMap(({ run_id, ended: known }) => {
    const state = endStates.find(end => end === states.get(run_id))
    return known === null && state ? { run_id, state, reason: null } : []
  })
  if (missed.length > 0) return missed.map(run => ended(plan.plan_id, run))
  if (stage.runs.every(run => run.ended !== null)) return [await endStage(deps, step)]
  const live = stage.runs.filter(run => run.ended === null && states.has(run.run_id)).length
  const room = (stage.sweep?.max_parallel ?? 1) - live
  const waiting = stage.runs.filter(run => run.ended === null && !states.has(run.run_id))
  const next = waiting.slice(0, Math.max(0, room))
  if (next.length === 0) return nothing
  const from = await initOf(deps, step)
  const isApproved = await wasApproved(deps, plan)
  for (const run of next) {
    signal.throwIfAborted()
    await planParts.submit({
      run_id: run.run_id,
      spec: specOf(step, { ...run, n: stage.runs.indexOf(run) + 1, from }),
      caller: step.caller,
      ...{ isInherited: stage.init_from_stage !== null, isApproved },
      check: refuseMoved(plan.looked[nth]?.seen ?? []),
    })
  }
  return stopIfCancelled(deps, plan)
}

const refuseMoved = (accepted: readonly SeenFact[]) => (seen: readonly SeenFact[]) => {
  if (movedIn('', accepted, seen).length > 0) throw new Moved(seen)
}

/** It may have been cancelled between its state was read and its runs were submitted. */
async function stopIfCancelled(deps: AdvanceDeps, { plan_id }: Made): Promise<Outcome> {
  const { state: now } = await loadState(deps.store, undefined, planAt(plan_id))
  return now?.state === 'cancelled' ? stopAll(deps, now) : nothing
}

async function endStage({ readCurves }: AdvanceDeps, { plan, nth, stage }: Step): Promise<Change> {
  const good = stage.runs.flatMap(run => (run.ended === 'succeeded' ? run.run_id : []))
  if (good.length === 0) {
    const [run] = stage.runs
    const reason =
      stage.runs.length === 1 && run
        ? `stage ${stage.name}: run ${run.run_id} ${run.ended}`
        : `stage ${stage.name}: none of its ${stage.runs.length} runs succeeded`
    return blocked(plan, { stage: nth, reason })
  }
  const metric = stage.sweep?.metric ?? null
  const best = metric === null ? null : await bestRun(readCurves, good, metric)
  return decided(planAt(plan.plan_id), {
    decide: now => succeedStage(now, nth, best),
    alongside: savePlan,
  })
}

type Metric = NonNullable<NonNullable<Stage['sweep']>['metric']>

/** The first of equals. */
async function bestRun(readCurves: ReadCurves, run_ids: readonly string[], { key, goal }: Metric) {
  const curves = await readCurves(run_ids, key)
  const sign = goal === 'min' ? 1 : -1
  const scored = run_ids.flatMap(run_id => {
    const value = bestOf(curves.get(run_id) ?? [], goal)
    return value === null ? [] : [{ run_id, score: sign * value }]
  })
  scored.sort((one, other) => one.score - other.score)
  return scored[0]?.run_id ?? null
}

type From = JobSpec['spec']['init_from']

async function initOf({ pool }: AdvanceDeps, { plan, stage }: Step): Promise<From> {
  if (stage.init_from_stage === null) return null
  const from = plan.stages.find(({ name }) => name === stage.init_from_stage)
  if (!from) throw new Refusal('invalid', `There is no stage ${stage.init_from_stage}`)
  const run_id = runToContinue(from)
  const checkpoint = await newestCheckpoint(pool, run_id)
  if (!checkpoint)
    throw new Refusal('invalid', `Stage ${from.name}: run ${run_id} has registered no checkpoint`)
  const { artifact_id } = checkpoint
  return { artifact_id, run_id: null, model: null, select: null, load: stage.load }
}

type Run = { params: Record<string, unknown>; n: number; from: From }

function specOf({ plan, stage }: Step, { params, n, from }: Run): JobSpec {
  if (!stage.spec) throw new Error(`stage ${stage.name} has no spec`)
  const { metadata, spec, ...rest } = stage.spec
  const { name } = metadata
  const labels = { ...metadata.labels, [planLabel]: plan.plan_id, [stageLabel]: stage.name }
  return {
    ...rest,
    metadata: { ...metadata, labels, name: stage.sweep ? `${name.slice(0, 194)}-${n}` : name },
    spec: {
      ...spec,
      params: { ...spec.params, ...params },
      ...(from && { init_from: from }),
    },
  }
}
