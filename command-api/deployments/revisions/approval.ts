import { approvalsOf } from '../../../events/approvals.ts'
import { type Deployment, type DeploymentEvent, deploymentAt } from '../../../events/deployments.ts'
import type { ApprovalRule } from '../../../schemas/approvals.ts'
import type { Decided, Work } from '../../commit/commit.ts'
import { loadState } from '../../commit/snapshots.ts'
import type { Deps } from '../../deps.ts'
import type { Asking } from '../../rules/access.ts'
import { requestApprovals } from '../../rules/approval-requests.ts'
import type { SubjectOfApproval } from '../../rules/approval-subject.ts'
import { roleIfEnabled } from '../../rules/enabled-person.ts'
import { deploymentToActOn } from '../act-on.ts'
import { saveDeployment, servingLock } from '../rows.ts'
import { type Promotion, promote } from './decide.ts'
import { refuseUnfit } from './unfit.ts'

type Needed = Pick<Deps, 'store' | 'newId'>
export type Promoting = { deployment_id: string; asked: Promotion; caller: Asking }

const subjectOf = (deployment_id: string) => ({ type: 'promotion' as const, id: deployment_id })

/** The names that a promotion with rules locks. */
export const promotionLocks = (deployment_id: string): string[] => [
  approvalsOf(subjectOf(deployment_id)).stream,
  servingLock,
]

/** Asks for the approval of a promotion that nothing else refuses; null if nothing would change. */
export async function askForPromotion(
  deps: Needed,
  work: Work,
  { deployment_id, asked, caller, rules }: Promoting & { rules: readonly ApprovalRule[] },
): Promise<{ awaited: string[] } | null> {
  if (rules.length === 0) return null
  const { state } = await loadState(deps.store, work.tx, deploymentAt(deployment_id))
  if (!state || promote(state, asked).length === 0) return null
  const { revision_id, reason, overridden = [] } = asked
  const then = { ...state, promoted_revision_id: revision_id }
  await refuseUnfit(deps, caller, overridden)(work.tx, { before: state, state: then, events: [] })
  const { settings, project, owner, promoted_revision_id: from, revisions } = state
  const { name } = settings
  const sourceOf = (id: string | null) => (id === null ? null : (revisions[id]?.source ?? null))
  return {
    awaited: await requestApprovals(deps, work, {
      subject: subjectOf(deployment_id),
      title: `the promotion of ${revision_id} in ${name}`,
      requested_by: caller.username,
      content: {
        ...{ deployment_id, name, project, owner, reason, overridden },
        from: { revision_id: from, source: sourceOf(from) },
        to: { revision_id, source: sourceOf(revision_id) },
      },
      rules,
    }),
  }
}

export const carryOut = (
  deps: Needed,
  work: Work,
  { deployment_id, asked, caller }: Promoting,
): Promise<Decided<Deployment, DeploymentEvent>> =>
  work.decide(deploymentAt(deployment_id), {
    decide: deployment => promote(deployment, asked),
    async alongside(tx, made) {
      await refuseUnfit(deps, caller, asked.overridden ?? [])(tx, made)
      await saveDeployment(tx, made)
    },
  })

type Content = {
  deployment_id: string
  from: { revision_id: string | null }
  to: { revision_id: string }
  reason: string
  overridden: string[]
}

/** What decisions about approvals mean for deployments. */
export const approvedPromotions = (deps: Needed): SubjectOfApproval => ({
  locks: ({ subject }) => [deploymentAt(subject.id).stream, servingLock],

  async whyChanged({ tx }, { subject, content }) {
    const { from } = content as Content
    const { state } = await loadState(deps.store, tx, deploymentAt(subject.id))
    if (!state || state.state === 'deleted' || state.state === 'deleting')
      return 'the deployment was deleted'
    return state.promoted_revision_id === from.revision_id
      ? null
      : 'another revision was promoted meanwhile'
  },

  async approved(work, { content, requested_by: username }) {
    const { deployment_id, from, to, reason, overridden } = content as Content
    const caller = { username, role: (await roleIfEnabled(work.tx, username)) ?? 'operator' }
    // They may have lost their rights meanwhile.
    await deploymentToActOn(work.tx, { asked: deployment_id, caller, action: 'control' })
    await carryOut(deps, work, {
      ...{ deployment_id, caller },
      asked: { revision_id: to.revision_id, reason, expected: from.revision_id, overridden },
    })
  },

  refused: async () => {},
})
