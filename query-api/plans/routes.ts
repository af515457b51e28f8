import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { totalOf } from '../../events/calculations/plan-estimate.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ApprovalTables } from '../../projector/approvals/table.ts'
import type { PlanTables } from '../../projector/plans/table.ts'
import {
  planDetail,
  planListQuery,
  planPath,
  planRow,
  planRunRow,
  planRunsQuery,
} from '../../schemas/plans.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { type AccessTables, mayRead } from '../rules/access.ts'

export type Tables = AccessTables & ApprovalTables & PlanTables

export const planRoutes = (reads: Reads<Tables>): Route[] => [
  plansRoute(reads),
  planRoute(reads),
  runsRoute(reads),
]

const plansRoute = (reads: Reads<Tables>): Route =>
  list({
    ...asCaller(reads),
    path: '/api/plans',
    tag: 'plans',
    summary: 'List plans of the projects that you may read, the newest first',
    query: planListQuery,
    row: planRow,
    matching: ({ db }, { caller, query: { project, state } }) =>
      shownTo(db, caller)
        .$if(project !== undefined, found => found.where('project', '=', project ?? ''))
        .$if(state !== undefined, found => found.where('state', '=', state ?? 'draft')),
    select: found => found.selectAll().orderBy('created_at', 'desc').orderBy('plan_id'),
    shape: async (rows, { db }) =>
      (await withStages(db, rows)).map(({ stages, ...plan }) => ({
        ...plan,
        stages: stages.map(({ planned: _, looked: __, ...stage }) => stage),
      })),
  })

const planRoute = (reads: Reads<Tables>): Route =>
  one({
    ...asCaller(reads),
    path: '/api/plans/{plan_id}',
    reach: 'its_people',
    tag: 'plans',
    summary: 'Read a plan: its stages, what the gates said, and how far it has come',
    params: planPath,
    refusals: ['not_found'],
    response: planDetail,
    async read({ db }, { caller, params: { plan_id } }) {
      const row = await find(db, caller, plan_id)
      const [plan] = await withStages(db, [row])
      if (!plan) throw noSuchPlan(plan_id)
      const stages = plan.stages.map(({ planned, looked, ...stage }) => ({
        ...stage,
        ...planned,
        ...looked,
      }))
      const runs = await db
        .selectFrom('plan_runs')
        .select('run_id')
        .where('plan_id', '=', plan_id)
        .orderBy('stage')
        .orderBy('n')
        .execute()
      return {
        ...plan,
        stages,
        gates: stages.flatMap(({ name: stage, gates }) => gates.map(gate => ({ ...gate, stage }))),
        warnings: stages.flatMap(({ name: stage, warnings }) =>
          warnings.map(warning => ({ ...warning, stage })),
        ),
        moved: row.moved,
        submitted_run_ids: runs.map(({ run_id }) => run_id),
      }
    },
  })

const runsRoute = (reads: Reads<Tables>): Route =>
  list({
    ...asCaller(reads),
    path: '/api/plans/{plan_id}/runs',
    reach: 'its_people',
    tag: 'plans',
    summary:
      'List the runs of a plan that have started or will, by stage, with the parameters of sweeps',
    params: planPath,
    refusals: ['not_found'],
    query: planRunsQuery,
    row: planRunRow,
    of: async ({ caller, params: { plan_id } }) => {
      const db = reads.as(caller)
      await find(db, caller, plan_id)
      return { db }
    },
    matching: ({ db }, { params: { plan_id }, query: { stage } }) =>
      db
        .selectFrom('plan_runs')
        .where('plan_id', '=', plan_id)
        .$if(stage !== undefined, found => found.where('stage', '=', stage ?? '')),
    select: found => found.selectAll().orderBy('stage').orderBy('n'),
    shape: rows =>
      rows.map(({ ended_at, ...row }) => ({ ...row, ended_at: ended_at && toTimestamp(ended_at) })),
  })

const noSuchPlan = (plan_id: string) => new Refusal('not_found', `No such plan: ${plan_id}`)

const shownTo = (db: Kysely<Tables>, caller: Person) =>
  db.selectFrom('plans').where(mayRead(caller, 'plans'))

async function find(db: Kysely<Tables>, caller: Person, plan_id: string) {
  const row = await shownTo(db, caller)
    .selectAll()
    .where('plan_id', '=', plan_id)
    .executeTakeFirst()
  if (!row) throw noSuchPlan(plan_id)
  return row
}

/** The rows with their stages, each with its plan and the findings of the gates. */
async function withStages(db: Kysely<Tables>, rows: readonly Selectable<Tables['plans']>[]) {
  const ids = rows.map(({ plan_id }) => plan_id)
  const [stages, counts, approvals] =
    ids.length === 0
      ? [[], [], []]
      : await Promise.all([
          db
            .selectFrom('plan_stages')
            .selectAll()
            .where('plan_id', 'in', ids)
            .orderBy('plan_id')
            .orderBy('nth')
            .execute(),
          countRuns(db, ids),
          newestApprovals(db, ids),
        ])
  return rows.map(({ moved: _, ...row }) => {
    const own = stages.filter(({ plan_id }) => plan_id === row.plan_id)
    return {
      ...row,
      estimate: totalOf(
        own,
        own.map(({ looked }) => looked),
      ),
      approval_id:
        approvals.find(({ subject_id }) => subject_id === row.plan_id)?.approval_id ?? null,
      created_at: toTimestamp(row.created_at),
      expires_at: toTimestamp(row.expires_at),
      submitted_at: row.submitted_at && toTimestamp(row.submitted_at),
      updated_at: toTimestamp(row.updated_at),
      stages: own.map(({ plan_id, nth: __, ...stage }) => {
        const found = counts.find(one => one.plan_id === plan_id && one.stage === stage.name)
        const { runs, succeeded, failed } = found ?? { runs: 0, succeeded: 0, failed: 0 }
        return { ...stage, runs, succeeded, failed }
      }),
    }
  })
}

/** As far as the reader may see them. */
const newestApprovals = (db: Kysely<Tables>, ids: readonly string[]) =>
  db
    .selectFrom('approvals')
    .where(sql<SqlBool>`subject ->> 'type' = 'plan'`)
    .where('subject_id', 'in', ids)
    .orderBy('requested_at', 'desc')
    .select(['subject_id', 'approval_id'])
    .execute()

const countRuns = (db: Kysely<Tables>, ids: readonly string[]) =>
  db
    .selectFrom('plan_runs')
    .where('plan_id', 'in', ids)
    .groupBy(['plan_id', 'stage'])
    .select([
      'plan_id',
      'stage',
      sql<number>`count(*)::integer`.as('runs'),
      sql<number>`count(*) filter (where state = 'succeeded')::integer`.as('succeeded'),
      sql<number>`count(*) filter (where state in ('failed', 'stopped'))::integer`.as('failed'),
    ])
    .execute()
