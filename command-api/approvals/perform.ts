import { approvalsOf } from '../../events/approvals.ts'
import type { SubjectType } from '../../schemas/approvals.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { expire, voidAll } from '../rules/approval-decisions.ts'
import { saveApprovals } from '../rules/approval-requests.ts'
import type { ApprovalSubjects } from './ports.ts'

type Expiring = { type: SubjectType; id: string; approval_id: string }

/** Ends approvals that nobody decided in time, and what waited for them. */
export const approvalExpiry = (subjectsOf: (deps: Deps) => ApprovalSubjects) =>
  reactor<Expiring, Deps>({
    name: 'expire-approvals',
    repeat: 'local',
    dutiesOf({ type, data }) {
      if (type !== 'approval.requested') return []
      const { subject, approval_id, expires_at } = data
      const payload = { type: subject.type, id: subject.id, approval_id }
      return [{ payload, due_at: new Date(expires_at) }]
    },
    async perform({ payload }, deps): Promise<Outcome> {
      const { approval_id } = payload
      const target = approvalsOf(payload)
      const { state: known } = await loadState(deps.store, undefined, target)
      const approval = known.find(one => one.approval_id === approval_id)
      if (approval?.state !== 'pending') return nothing
      const port = subjectsOf(deps)[payload.type]
      return [
        ...port.locks(approval).map(stream => ({ stream, make: async () => {} })),
        {
          stream: target.stream,
          async make(work) {
            const { events } = await work.decide(target, {
              decide: (now_, now) => expire(now_, approval_id, now),
              alongside: saveApprovals,
            })
            if (events.length > 0)
              await port.refused(work, approval, 'nobody decided about its approval in time')
          },
        },
      ]
    },
  })

/** A job that ended before it began needs no approval any more. */
export const approvalsOfEndedJobs = reactor<{ run_id: string }, Deps>({
  name: 'void-approvals-of-jobs',
  repeat: 'local',
  dutiesOf({ type, data }) {
    const isOver = (type === 'job.stopped' || type === 'job.failed') && data.attempt === 0
    return isOver && data.reason !== 'refused' ? [{ payload: { run_id: data.run_id } }] : []
  },
  perform: async ({ payload: { run_id } }) => [
    decided(approvalsOf({ type: 'job', id: run_id }), {
      decide: known => voidAll(known, 'the job ended'),
      alongside: saveApprovals,
    }),
  ],
})
