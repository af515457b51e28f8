import { type Plan, planAt } from '../../events/plans.ts'
import { Refusal } from '../../platform/refusal.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Action, type Asking, judge, rolesIn } from '../rules/access.ts'
import { findProject } from '../rules/short-id.ts'
import { noSuchPlan } from './decide.ts'

/** The plan, if the caller may act on it; to people who may not see its project it looks missing. */
export async function planToActOn(
  { store, pool }: Pick<Deps, 'store' | 'pool'>,
  plan_id: string,
  { caller, action }: { caller: Asking; action: Action },
): Promise<NonNullable<Plan>> {
  const { state: plan } = await loadState(store, undefined, planAt(plan_id))
  if (!plan) throw noSuchPlan(plan_id)
  const project = await findProject(pool, plan.project, caller)
  const roles = project ? rolesIn(project, caller, plan) : []
  const verdict = judge(roles, action)
  if (verdict === 'hidden') throw noSuchPlan(plan_id)
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      action === 'submit'
        ? `Only members of project ${plan.project} may submit its plans`
        : `Only ${plan.owner}, maintainers of project ${plan.project} and admins may act on this plan`,
    )
  return plan
}
