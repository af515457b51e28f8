import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { totalOf } from '../../events/calculations/plan-estimate.ts'
import { planAt } from '../../events/plans.ts'
import { projectAt } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import { jobSpecLimitBytes } from '../../schemas/jobs/jobspec.ts'
import {
  type LookedStage,
  type PlanInput,
  planCancelled,
  planCreated,
  planInput,
  planLimits,
  planPath,
  planSubmitInput,
  planSubmitted,
} from '../../schemas/plans.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { answerPosition, type HttpAsked } from '../commit/asked.ts'
import { commit, create, fresh, transact, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { approvalNeeded } from '../rules/approval-requests.ts'
import { createEmptyProject, findProject, refuseProjectOfOthers } from '../rules/short-id.ts'
import { approvalLock, askForPlan } from './approval.ts'
import { digestOfPlan, movedBetween, movedText } from './compare.ts'
import { cancelPlan, createPlan, noSuchPlan, refuseUnlessWaiting, submitPlan } from './decide.ts'
import { planToActOn } from './find.ts'
import { labelled, lookAt } from './look.ts'
import { allRunIds } from './part-ids.ts'
import type { PlanParts } from './ports.ts'
import { countWaiting, savePlan } from './rows.ts'
import { stagesOf } from './stages.ts'

const dayMs = 86_400_000

export const planRoutes = (deps: Deps, parts: PlanParts): Route[] => [
  route({
    method: 'POST',
    path: '/api/plans',
    credential: 'person',
    reach: 'all',
    tag: 'plans',
    summary: 'Make a plan: one job, or stages that start one after the other; nothing runs yet',
    body: planInput,
    bodyLimitBytes: jobSpecLimitBytes,
    response: planCreated,
    refusals: ['invalid', 'forbidden', 'conflict'],
    handle: request => makePlan(deps, parts, request),
  }),
  route({
    method: 'POST',
    path: '/api/plans/{plan_id}/submit',
    credential: 'person',
    reach: 'its_people',
    tag: 'plans',
    summary:
      'Submit a plan, unless something changed since it was made; also continues a blocked one',
    params: planPath,
    body: planSubmitInput,
    bodyMayBeAbsent: true,
    response: planSubmitted,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request => submit(deps, parts, request),
  }),
  route({
    method: 'POST',
    path: '/api/plans/{plan_id}/cancel',
    credential: 'person',
    reach: 'its_people',
    tag: 'plans',
    summary: 'Cancel a plan: its runs are stopped, and nothing more of it starts',
    params: planPath,
    response: planCancelled,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { plan_id } = request.params
      await planToActOn(deps, plan_id, { caller: request.caller, action: 'control' })
      await commit(deps, request, planAt(plan_id), {
        decide: plan => cancelPlan(plan, plan_id),
        alongside: savePlan,
      })
      return { plan_id, state: 'cancelled' as const }
    },
  }),
]

type Make = HttpAsked & { caller: Person; body: PlanInput }

async function makePlan(deps: Deps, parts: PlanParts, request: Make) {
  const { caller, body } = request
  const stages = stagesOf(body)
  const [{ spec }] = stages
  const project = spec?.metadata.project ?? ''
  const opening = await openProject(deps, { project, caller })
  const { looked } = await lookAt(parts, stages, caller)
  const plan_id = deps.newId('pln')
  const target = fresh(planAt(plan_id))
  const name = body.name ?? spec?.metadata.name ?? ''
  const owner = caller.username
  return create(deps, request, target, {
    locks: [`plans of ${owner}`, ...opening.locks],
    async make(work) {
      if ((await countWaiting(work.tx, owner)) >= planLimits.waiting)
        throw new Refusal(
          'conflict',
          `You have ${planLimits.waiting} plans that wait to be submitted, the maximum`,
          { code: 'plan.too_many' },
        )
      await opening.open(work)
      const expires_at = toTimestamp(new Date(work.now.getTime() + planLimits.days * dayMs))
      const digest = digestOfPlan(stages, looked)
      const made = { plan_id, owner, project, name, digest, stages, looked, expires_at }
      const { state } = await work.decide(target, {
        decide: plan => createPlan(plan, made),
        alongside: savePlan,
      })
      return {
        ...{ plan_id, name, project, digest, state: state?.state ?? 'draft', expires_at },
        gates: labelled(stages, looked, one => one.gates),
        warnings: labelled(stages, looked, one => one.warnings),
        estimate: totalOf(stages, looked),
      }
    },
  })
}

/** The first plan of a project creates it, as its first run does. */
async function openProject(deps: Deps, { project, caller }: { project: string; caller: Person }) {
  const known = await findProject(deps.pool, project, caller)
  if (known) refuseProjectOfOthers(known, project, caller)
  return {
    locks: known ? [] : [projectAt(project).stream],
    async open(work: Work) {
      if (known || (await createEmptyProject(deps, work, { project, caller }))) return
      const made = await findProject(work.tx, project, caller)
      if (made) refuseProjectOfOthers(made, project, caller)
    },
  }
}

type Submit = HttpAsked & {
  caller: Person
  params: { plan_id: string }
  body: { accept?: string | null }
}

async function submit(deps: Deps, parts: PlanParts, request: Submit) {
  const { caller, body } = request
  const { plan_id } = request.params
  const plan = await planToActOn(deps, plan_id, { caller, action: 'submit' })
  const isUnderWay = plan.state === 'submitted' || plan.state === 'succeeded'
  if (isUnderWay) return { ...shown(plan), plan_id }
  refuseUnlessWaiting(plan, deps.now())
  const { looked, rules } = await lookAt(parts, plan.stages, caller)
  refuseRefused(plan.stages, looked)
  const digest = digestOfPlan(plan.stages.map(plannedOf), looked)
  const moved = movedBetween(plan.stages, plan.looked, looked)
  if (digest !== plan.digest && digest !== body.accept)
    throw new Refusal(
      'conflict',
      `The plan has changed since it was made: ${moved.map(movedText).join('; ')}`,
      {
        code: 'plan.moved',
        data: { digest, moved },
        hint: `Submit it with accept: "${digest}" to accept this`,
      },
    )
  const submitted = { digest, looked, submitted_by: caller.username }
  // A blocked plan that continues unchanged was approved before, or needed no approval.
  const isKnown = plan.state === 'blocked' && digest === plan.digest
  const { result, position } = await transact(deps, request, {
    target: planAt(plan_id),
    locks: [approvalLock(plan_id)],
    async make(work) {
      if (rules.length > 0 && !isKnown) {
        const awaited = await askForPlan(deps, work, { plan, rules, ...submitted })
        if (awaited.length > 0) return { awaited }
      }
      return work.decide(planAt(plan_id), {
        decide(now, at) {
          if (now?.state !== 'submitted' && now?.digest !== plan.digest)
            throw new Refusal(
              'conflict',
              'The plan was submitted at the same time; look at it again',
            )
          return submitPlan(now, submitted, at)
        },
        alongside: savePlan,
      })
    },
  })
  if ('awaited' in result) throw approvalNeeded(result.awaited)
  if (position !== null) answerPosition(request, position)
  if (!result.state) throw noSuchPlan(plan_id)
  return { ...shown(result.state), plan_id }
}

type Made = Awaited<ReturnType<typeof planToActOn>>

const shown = (plan: Made) => ({
  digest: plan.digest,
  state: plan.state,
  submitted_run_ids: allRunIds(plan),
})

const plannedOf = ({
  name,
  kind,
  spec,
  sweep,
  deploy,
  init_from_stage,
  load,
}: Made['stages'][0]) => ({
  ...{ name, kind, spec, sweep, deploy, init_from_stage, load },
})

/** As for a single job, the first gate that refuses. */
function refuseRefused(stages: readonly { name: string }[], looked: readonly LookedStage[]): void {
  const refusing = labelled(stages, looked, ({ gates }) => gates.filter(({ ok }) => !ok))[0]
  if (!refusing) return
  const { gate, detail, stage, code, hint, data } = refusing
  throw new Refusal('invalid', `Stage ${stage}: ${detail}`, {
    fields: { gate },
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
    data: { ...data, stage },
  })
}
