import type { Pool } from 'pg'
import { approvalsOf } from '../../events/approvals.ts'
import { type Model, type ModelEvent, modelAt } from '../../events/models.ts'
import type { ApprovalRule } from '../../schemas/approvals.ts'
import type { Decided, Work } from '../commit/commit.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { requestApprovals, rulesOn } from '../rules/approval-requests.ts'
import type { SubjectOfApproval } from '../rules/approval-subject.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { modelToActOn } from './act-on.ts'
import { type AliasMove, moveAlias } from './decide.ts'
import { refuseWorse } from './gate.ts'
import { refuseFailed, saveModel } from './rows.ts'

/** A rule that names aliases also applies where the model does not protect them. */
export const rulesForAlias = async (pool: Pool, alias: string): Promise<ApprovalRule[]> =>
  (await rulesOn(pool, 'protected_alias')).filter(
    ({ when: { names } }) => names.length === 0 || names.includes(alias),
  )

const subjectOf = (model: string, alias: string) => ({
  type: 'model_alias' as const,
  id: `${model}@${alias}`,
})

export const aliasApprovals = (model: string, alias: string) => approvalsOf(subjectOf(model, alias))

type Moving = { asked: AliasMove; caller: Asking }
type Needed = Pick<Deps, 'store' | 'newId'>

/** Asks for the approval of a move that nothing else refuses; null if it needs none. */
export async function askForAlias(
  deps: Needed,
  work: Work,
  { asked, caller, rules }: Moving & { rules: readonly ApprovalRule[] },
): Promise<{ awaited: string[] } | null> {
  if (rules.length === 0) return null
  const { model, alias, to, reason, overridden = [] } = asked
  const { state } = await loadState(deps.store, work.tx, modelAt(model))
  const isProtected = state?.protected_aliases.includes(alias)
  const applying = rules.filter(({ when }) => isProtected || when.names.includes(alias))
  if (moveAlias(state, asked).length === 0 || applying.length === 0) return null
  await refuseUnfit(deps, work, state, { asked, caller })
  return {
    awaited: await requestApprovals(deps, work, {
      subject: subjectOf(model, alias),
      title: `version ${to} as ${model}@${alias}`,
      requested_by: caller.username,
      content: { model, alias, ...fromTo(state, asked), reason, overridden },
      rules: applying,
    }),
  }
}

const fromTo = (model: Model, { alias, to }: AliasMove) => {
  const versionOf = (wanted: number | null | undefined) => {
    const found = model?.versions.find(one => one.version === wanted)
    return found ? { version: found.version, artifact_id: found.artifact_id } : null
  }
  return {
    from: versionOf(model?.aliases.find(one => one.alias === alias)?.version),
    to: versionOf(to),
  }
}

async function refuseUnfit(deps: Needed, { tx }: Work, before: Model, { asked, caller }: Moving) {
  const { model, alias, to, overridden = [] } = asked
  await refuseFailed(tx, model, to)
  await refuseWorse(deps, tx, before, { alias, to, caller, overridden })
}

export const carryOut = (
  deps: Needed,
  work: Work,
  moving: Moving,
): Promise<Decided<Model, ModelEvent>> =>
  work.decide(modelAt(moving.asked.model), {
    decide: state => moveAlias(state, moving.asked),
    async alongside(tx, decided) {
      await refuseUnfit(deps, work, decided.before, moving)
      await saveModel(tx, decided)
    },
  })

type Content = {
  model: string
  alias: string
  from: { version: number } | null
  to: { version: number }
  reason: string
  overridden: string[]
}

/** What decisions about approvals mean for aliases. */
export const approvedAliases = (deps: Needed): SubjectOfApproval => ({
  locks: ({ content }) => [modelAt((content as Content).model).stream],

  async whyChanged({ tx }, { content }) {
    const { model, alias, from } = content as Content
    const { state } = await loadState(deps.store, tx, modelAt(model))
    if (!state || state.is_deleted) return 'the model was deleted'
    const version = state.aliases.find(one => one.alias === alias)?.version ?? null
    return version === (from?.version ?? null) ? null : 'the alias was moved'
  },

  async approved(work, { content, requested_by }) {
    const { model, alias, from, to, reason, overridden } = content as Content
    const role = (await roleIfEnabled(work.tx, requested_by)) ?? 'operator'
    const caller = { username: requested_by, role }
    // They may have lost their rights meanwhile.
    const { mayControl } = await modelToActOn(work.tx, { model, caller, action: 'submit' })
    await carryOut(deps, work, {
      caller,
      asked: {
        ...{ model, alias, reason, overridden, to: to.version },
        ...{ expected: from?.version ?? null, mayMoveProtected: mayControl },
      },
    })
  },

  refused: async () => {},
})
