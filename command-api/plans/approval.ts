import { type Approvals, approvalsOf } from '../../events/approvals.ts'
import { planAt } from '../../events/plans.ts'
import type { LookedStage } from '../../schemas/plans.ts'
import type { Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { areCleared } from '../rules/approval-decisions.ts'
import { requestApprovals } from '../rules/approval-requests.ts'
import type { SubjectOfApproval } from '../rules/approval-subject.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { submitPlan } from './decide.ts'
import { planToActOn } from './find.ts'
import type { Look } from './look.ts'
import { savePlan } from './rows.ts'

type Made = Awaited<ReturnType<typeof planToActOn>>
type Submitted = Look & { plan: Made; digest: string; submitted_by: string }

const subjectOf = (plan_id: string) => ({ type: 'plan' as const, id: plan_id })

/** The name to lock for a submit that may wait for an approval. */
export const approvalLock = (plan_id: string): string => approvalsOf(subjectOf(plan_id)).stream

type Content = { digest: string; looked: LookedStage[] }

/** Asks for the approvals that the plan waits for, once; returns the ids of the undecided ones. */
export async function askForPlan(
  deps: Pick<Deps, 'newId' | 'store'>,
  work: Work,
  { plan, digest, looked, rules, submitted_by }: Submitted,
): Promise<string[]> {
  const { plan_id, name, project, owner, stages } = plan
  const known = await approvalsFor(deps, plan_id, digest, work.tx)
  // The gates may have said the same in other words meanwhile, which would ask again.
  const pending = known.filter(({ state }) => state === 'pending')
  if (pending.length > 0) return pending.map(({ approval_id }) => approval_id)
  const planned = stages.map(
    ({ name: stage, kind, spec, sweep, deploy, init_from_stage, load }) => ({
      ...{ name: stage, kind, spec, sweep, deploy, init_from_stage, load },
    }),
  )
  return requestApprovals(deps, work, {
    subject: subjectOf(plan_id),
    title: `plan ${name}`,
    requested_by: submitted_by,
    content: { plan_id, name, project, owner, digest, stages: planned, looked },
    rules,
  })
}

/** Whether what the plan runs was approved as a whole. */
export async function wasApproved(
  deps: Pick<Deps, 'store'>,
  { plan_id, digest }: Made,
): Promise<boolean> {
  return areCleared(await approvalsFor(deps, plan_id, digest))
}

/** The approvals of this digest. */
async function approvalsFor(
  { store }: Pick<Deps, 'store'>,
  plan_id: string,
  digest: string,
  tx?: Transaction,
): Promise<Approvals> {
  const { state: known } = await loadState(store, tx, approvalsOf(subjectOf(plan_id)))
  return known.filter(({ content }) => (content as Content).digest === digest)
}

/** What decisions about approvals mean for plans. */
export const approvedPlans = (deps: Pick<Deps, 'store' | 'pool'>): SubjectOfApproval => ({
  locks: ({ subject }) => [planAt(subject.id).stream],

  async whyChanged({ tx }, { subject }) {
    const { state: plan } = await loadState(deps.store, tx, planAt(subject.id))
    return plan && ['draft', 'ready', 'blocked'].includes(plan.state)
      ? null
      : `the plan is ${plan?.state ?? 'gone'}`
  },

  async approved(work, { subject, content, requested_by: username }) {
    const { digest, looked } = content as Content
    const caller = { username, role: (await roleIfEnabled(work.tx, username)) ?? 'operator' }
    // They may have lost their rights meanwhile.
    await planToActOn(deps, subject.id, { caller, action: 'submit' })
    await work.decide(planAt(subject.id), {
      decide: (plan, now) => submitPlan(plan, { digest, looked, submitted_by: username }, now),
      alongside: savePlan,
    })
  },

  refused: async () => {},
})
