import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { ApprovalTables } from '../../projector/approvals/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import {
  type ApprovalDetail,
  type ApprovalRow,
  approvalDetail,
  approvalListQuery,
  approvalPath,
  approvalRow,
} from '../../schemas/approvals.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'

export type Tables = ApprovalTables & Pick<JobTables, 'jobs'> & Pick<AccessTables, 'runs'>

export const approvalRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/approvals',
    tag: 'approvals',
    summary: 'List approvals, the newest first: those for you, those that you asked for, or both',
    query: approvalListQuery,
    row: approvalRow,
    matching({ db }, { caller, query: { view = 'all', state, subject } }) {
      let found = shownTo(db, caller)
      if (view === 'for_me')
        found = found
          .where('state', '=', 'pending')
          .where('requested_by', '<>', caller.username)
          .where('expires_at', '>', sql<Date>`now()`)
      if (view === 'by_me') found = found.where('requested_by', '=', caller.username)
      if (state !== undefined) found = found.where('state', '=', state)
      return subject === undefined ? found : found.where('subject_id', '=', subject)
    },
    select: found => found.select(columns).orderBy('requested_at', 'desc').orderBy('approval_id'),
    shape: rows => rows.map(toRow),
  }),
  one({
    ...asCaller(reads),
    path: '/api/approvals/{approval_id}',
    reach: 'its_people',
    tag: 'approvals',
    summary: 'Read an approval, with exactly what it is for',
    params: approvalPath,
    response: approvalDetail,
    missing: ({ approval_id }) => `No such approval: ${approval_id}`,
    async read({ db }, { caller, params: { approval_id } }): Promise<ApprovalDetail | undefined> {
      const row = await shownTo(db, caller)
        .select([...columns, 'content', 'run_id'])
        .where('approval_id', '=', approval_id)
        .executeTakeFirst()
      if (!row) return undefined
      const previous = row.run_id === null ? null : await previousOf(db, row.run_id, row.content)
      return { ...toRow(row), content: row.content, previous }
    },
  }),
]

const columns = [
  ...([
    'approval_id',
    'subject',
    'title',
    'rule',
    'approver_role',
    'approver_team',
    'state',
  ] as const),
  ...(['requested_by', 'requested_at', 'expires_at', 'decisions', 'reason'] as const),
] as const

/** Who asked for it, and who may decide it. */
const shownTo = (db: Kysely<Tables>, { role, username }: Person) =>
  db.selectFrom('approvals').$if(role !== 'admin', found =>
    found.where(sql<SqlBool>`(requested_by = ${username} or approver_role = 'operator'
          or approver_team in (select own_teams()))`),
  )

type Found = Pick<Selectable<ApprovalTables['approvals']>, (typeof columns)[number]>

const toRow = (row: Found): ApprovalRow => ({
  approval_id: row.approval_id,
  subject: row.subject,
  title: row.title,
  rule: row.rule,
  state: row.state,
  requested_by: row.requested_by,
  requested_at: toTimestamp(row.requested_at),
  expires_at: toTimestamp(row.expires_at),
  approvers: [{ role: row.approver_role, team: row.approver_team }],
  decisions: row.decisions.map(({ at, ...made }) => ({ ...made, at: toTimestamp(new Date(at)) })),
  reason: row.reason,
})

/** The newest earlier job of the same recipe and project that the caller may read. */
async function previousOf(db: Kysely<Tables>, run_id: string, content: Record<string, unknown>) {
  const { project, recipe } = content as { project: string; recipe: { name: string } }
  const { rows } = await sql<{ run_id: string; short_id: string; spec: unknown }>`
    select j.run_id, j.short_id, j.spec from jobs j join readable_runs r using (run_id)
     where j.project = ${project} and j.recipe_name = ${recipe.name} and j.run_id < ${run_id}
       and j.started_at is not null
     order by j.run_id desc limit 1`.execute(db)
  return rows[0] ?? null
}
