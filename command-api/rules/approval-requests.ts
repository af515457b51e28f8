import type { Pool } from 'pg'
import { type ApprovalEvent, type Asked, approvalsOf } from '../../events/approvals.ts'
import { digestOf } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ApprovalRule, Condition, SubjectType } from '../../schemas/approvals.ts'
import { fresh, type Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { ask } from './approval-decisions.ts'

/** SQL: all rules, as JSON. */
export const rulesAsJson = `(select coalesce(jsonb_agg(to_jsonb(r) order by r.name), '[]') from write.approval_rule r)`

/** The rules about this. */
export async function rulesOn(db: Pool | Transaction, on: Condition): Promise<ApprovalRule[]> {
  const { rows } = await db.query<ApprovalRule>({
    name: 'approval_rules_on',
    text: `select name, "when", who, expires_h from write.approval_rule where "when" ->> 'on' = $1 order by name`,
    values: [on],
  })
  return rows
}

export type Wanted = {
  subject: { type: SubjectType; id: string }
  title: string
  requested_by: string
  /** Everything that approvers see and approve. */
  content: Record<string, unknown>
  rules: readonly Pick<ApprovalRule, 'name' | 'who' | 'expires_h'>[]
  /** Whether nobody else can know the subject yet. */
  isNew?: boolean
  /** Comes before them. */
  first?: readonly ApprovalEvent[]
}

/** People who are notified of one approval. */
const mostTold = 50

/** Asks for one approval for each rule, in this transaction; returns their ids. Unless the subject is new, its stream must be locked. */
export async function requestApprovals(
  { newId }: Pick<Deps, 'newId'>,
  work: Work,
  { subject: { type, id }, title, requested_by, content, rules, isNew = false, first = [] }: Wanted,
): Promise<string[]> {
  const subject = { type, id, digest: digestOf(content) }
  const asked: Asked[] = []
  for (const { name, who, expires_h } of rules)
    asked.push({
      ...{
        approval_id: newId('apr'),
        subject,
        title,
        rule: name,
        who,
        requested_by,
        content,
        expires_h,
      },
      expires_at: new Date(work.now.getTime() + expires_h * 3_600_000).toISOString(),
      tell: await approversOf(work.tx, who, requested_by),
    })
  const stream = approvalsOf(subject)
  const { state } = await work.decide(isNew ? fresh(stream) : stream, {
    decide: known => [...first, ...ask(known, asked)],
    alongside: saveApprovals,
  })
  return state
    .filter(one => one.state === 'pending' && one.subject.digest === subject.digest)
    .map(({ approval_id }) => approval_id)
}

/** SQL: whether a person is of this team and not a viewer; each argument is SQL. */
const decidesIn = (team: string, username: string) =>
  `exists (select from write.team_member m join write.team t on t.name = m.team
            where m.team = ${team} and m.username = ${username} and m.role <> 'viewer' and t.deleted_at is null)`

async function approversOf(
  tx: Transaction,
  { role, team }: ApprovalRule['who'],
  requested_by: string,
) {
  const { rows } = await tx.query<{ username: string }>(
    `select p.username from auth.person p
      where p.username <> $1 and not p.disabled
        and case when $3::text is null then p.role = 'admin' or $2 = 'operator' else ${decidesIn('$3', 'p.username')} end
      order by p.role, p.username limit ${mostTold}`,
    [requested_by, role, team],
  )
  return rows.map(({ username }) => username)
}

/** The role of a person in a team that has not been deleted; null: none. */
export async function teamRoleOf(
  db: Pool | Transaction,
  team: string,
  username: string,
): Promise<string | null> {
  const { rows } = await db.query<{ role: string }>(
    `select m.role from write.team_member m join write.team t on t.name = m.team
      where m.team = $1 and m.username = $2 and t.deleted_at is null`,
    [team, username],
  )
  return rows[0]?.role ?? null
}

export async function teamExists(tx: Transaction, team: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select from write.team where name = $1 and deleted_at is null',
    [team],
  )
  return rowCount === 1
}

/** Whom an approval waits for, by which routes decide who may see and decide it. */
export async function saveApprovals(
  tx: Transaction,
  { events, now }: { events: readonly ApprovalEvent[]; now: Date },
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'approval.requested')
      await tx.query(
        `insert into write.approval (approval_id, subject_type, subject_id, who, requested_by, requested_at)
         values ($1, $2, $3, $4, $5, $6)`,
        [data.approval_id, data.subject.type, data.subject.id, data.who, data.requested_by, now],
      )
}

/** The response to what happens once it is approved. */
export const approvalNeeded = (approval_ids: readonly string[]): Refusal =>
  new Refusal('conflict', `It waits for approval: ${approval_ids.join(', ')}`, {
    code: 'approval.required',
    data: { approval_ids },
    hint: 'It happens by itself once it is approved: see /approvals, or forge approve ls --mine',
  })
