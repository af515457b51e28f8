import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { quotaAt } from '../../events/quotas.ts'
import { canonicalJson } from '../../platform/digest.ts'
import type { QuotaRaise } from '../../schemas/approvals.ts'
import type { QuotaInput } from '../../schemas/quotas.ts'
import type { Transaction } from '../commit/event-store.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { decided } from '../effects/outcome.ts'
import { type Duty, reactor } from '../effects/reactor.ts'
import type { SubjectOfApproval } from '../rules/approval-subject.ts'
import { endRaise, limitsOf, raiseQuota } from './decide.ts'
import { saveQuota } from './rows.ts'

type Content = { username: string; raise: QuotaRaise; until: string; current: QuotaInput }

type Needed = Pick<Deps, 'store'>

/** The quota in force of a person. */
export async function currentQuota(
  { store }: Needed,
  tx: Transaction | undefined,
  username: string,
): Promise<QuotaInput> {
  const { state } = await loadState(store, tx, quotaAt(username))
  return limitsOf(state, username)
}

/** What decisions about approvals mean for quotas. */
export const approvedRaises = (deps: Needed): SubjectOfApproval => ({
  locks: ({ content }) => [quotaAt((content as Content).username).stream],

  async whyChanged({ tx, now }, { content }) {
    const { username, current, until } = content as Content
    if (Date.parse(until) <= now.getTime()) return 'it would have ended already'
    const isSame = canonicalJson(await currentQuota(deps, tx, username)) === canonicalJson(current)
    return isSame ? null : 'the quota changed'
  },

  async approved(work, { subject, content }) {
    const { username, raise, until } = content as Content
    await work.decide(quotaAt(username), {
      decide: (quota, now) =>
        raiseQuota(quota, { username, request_id: subject.id, raise, until }, now),
      alongside: saveQuota,
    })
  },

  refused: async () => {},
})

type Ending = { username: string; request_id: string }

const dutiesOf = ({ type, data }: Recorded<DecisionEvent>): Duty<Ending>[] =>
  type === 'quota.raised'
    ? [
        {
          payload: { username: data.username, request_id: data.request_id },
          due_at: new Date(data.until),
        },
      ]
    : []

/** Lets a quota fall back at the end of its raise. */
export const raiseEnder = reactor<Ending, Deps>({
  name: 'end-raises',
  repeat: 'local',
  dutiesOf,
  perform: async ({ payload }) => [
    decided(quotaAt(payload.username), {
      decide: quota => endRaise(quota, payload),
      alongside: saveQuota,
    }),
  ],
})
