import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type Approval, type Approvals, approvalsOf } from '../../events/approvals.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type ApprovalRule,
  approvalDecided,
  approvalDecisionInput,
  approvalPath,
  type SubjectType,
} from '../../schemas/approvals.ts'
import { answerPosition } from '../commit/asked.ts'
import { transact, type Work } from '../commit/commit.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Decision, decideApproval, isCleared, voidAll } from '../rules/approval-decisions.ts'
import { saveApprovals, teamRoleOf } from '../rules/approval-requests.ts'
import type { ApprovalPorts, ApprovalSubjects } from './ports.ts'

export const decideRoute = (deps: Deps, { approvalSubjects }: ApprovalPorts): Route =>
  route({
    method: 'POST',
    path: '/api/approvals/{approval_id}/decide',
    credential: 'person',
    reach: 'its_people',
    tag: 'approvals',
    summary: 'Approve or reject; what was approved happens at once',
    params: approvalPath,
    body: approvalDecisionInput,
    response: approvalDecided,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const subject = await subjectToDecide(deps.pool, params.approval_id, caller)
      const made = { ...body, approval_id: params.approval_id, by: caller.username }
      const target = approvalsOf(subject)
      const { state: known } = await loadState(deps.store, undefined, target)
      const approval = oneOf(known, made.approval_id)
      const { result, position } = await transact(deps, request, {
        target,
        locks: approvalSubjects[subject.type].locks(approval),
        make: work => decide(deps, work, { approval, made, subjects: approvalSubjects }),
      })
      if (position !== null) answerPosition(request, position)
      if (result.voided !== null)
        throw new Refusal('conflict', `This approval is void: ${result.voided}`, {
          code: 'approval.voided',
          data: { state: 'voided' },
        })
      const { state, changed } = result
      return { approval_id: made.approval_id, state, changed }
    },
  })

type Deciding = { approval: Approval; made: Decision; subjects: ApprovalSubjects }

async function decide(
  { store }: Pick<Deps, 'store'>,
  work: Work,
  { approval, made, subjects }: Deciding,
) {
  const { subject } = approval
  const port = subjects[subject.type]
  const stream = approvalsOf(subject)
  const before = await loadState(store, work.tx, stream)
  const isOpen = oneOf(before.state, made.approval_id).state === 'pending'
  const voided = isOpen ? await port.whyChanged(work, approval) : null
  const { state, events } = await work.decide(stream, {
    decide: (known, now) =>
      voided === null ? decideApproval(known, made, now) : voidAll(known, voided),
    alongside: saveApprovals,
  })
  const changed = events.length > 0
  if (changed && voided === null) {
    if (made.decision === 'rejected') await port.refused(work, approval, whyRejected(made))
    else if (isCleared(state, subject.digest)) await port.approved(work, approval)
  }
  return { voided, changed, state: oneOf(state, made.approval_id).state }
}

const whyRejected = ({ by, comment }: Decision) =>
  `${by} rejected it${comment === '' ? '' : `: ${comment}`}`

function oneOf(known: Approvals, approval_id: string): Approval {
  const found = known.find(one => one.approval_id === approval_id)
  if (!found) throw new Refusal('not_found', `No such approval: ${approval_id}`)
  return found
}

type Row = {
  type: SubjectType
  id: string
  who: ApprovalRule['who']
  requested_by: string
}

/** The requester may see an approval but not decide it; to people who may do neither, it looks missing. */
async function subjectToDecide(
  pool: Pool,
  approval_id: string,
  { username, role }: Person,
): Promise<{ type: SubjectType; id: string }> {
  const { rows } = await pool.query<Row>(
    `select subject_type as type, subject_id as id, who, requested_by from write.approval where approval_id = $1`,
    [approval_id],
  )
  const [row] = rows
  if (row?.requested_by === username)
    throw new Refusal('conflict', 'Somebody else has to decide what you asked for', {
      code: 'approval.own',
    })
  const standing = row ? await standingOf(pool, row, { username, role }) : null
  if (standing === 'sees')
    throw new Refusal('forbidden', `Viewers of the team ${row?.who.team} do not decide`)
  if (!row || standing !== 'decides')
    throw new Refusal('not_found', `No such approval: ${approval_id}`)
  return { type: row.type, id: row.id }
}

/** Viewers of a team see its approvals. */
async function standingOf(
  pool: Pool,
  { who }: Row,
  { username, role }: Pick<Person, 'username' | 'role'>,
): Promise<'decides' | 'sees' | null> {
  if (role === 'admin' || who.role === 'operator') return 'decides'
  const held = who.team === null ? null : await teamRoleOf(pool, who.team, username)
  if (held === null) return null
  return held === 'viewer' ? 'sees' : 'decides'
}
