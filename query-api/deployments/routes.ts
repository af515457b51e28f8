import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import {
  deployment,
  deploymentListQuery,
  pageOfDeployment,
  promotion,
  revision,
  revisionPath,
  token,
} from '../../schemas/deployments/deployments.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { mayRead } from '../rules/access.ts'
import { deltasOf, gatesOf, scoresOf } from './benchmark-deltas.ts'
import { diffOf } from './diff.ts'
import { type Db, ofDeployment, type Tables } from './find.ts'
import { enginesOf, type RecordDeps, toDeployments, toRevision } from './record.ts'
import { neverUsed, usesOf } from './traffic/last-day.ts'

export const deploymentRoutes = (reads: Reads<Tables>, deps: RecordDeps): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/deployments',
    tag: 'deployments',
    summary: 'List the deployments one may read, newest first',
    query: deploymentListQuery,
    row: deployment,
    matching: ({ db }, { caller, query: { project, state } }) =>
      db
        .selectFrom('deployments as d')
        .where('d.state', '<>', 'deleted')
        .where(mayRead(caller, 'd'))
        .$if(project !== undefined, one => one.where('d.project', '=', project ?? ''))
        .$if(state !== undefined, one => one.where('d.state', '=', state ?? 'ready')),
    select: readable =>
      readable.selectAll().orderBy('d.created_at', 'desc').orderBy('d.deployment_id', 'desc'),
    shape: (rows, { db }) => toDeployments(deps, db, rows),
  }),
  one({
    ...ofDeployment(reads),
    path: '/api/deployments/{deployment_id}',
    tag: 'deployments',
    summary: 'Read a deployment',
    response: deployment,
    read: async ({ db, row }) => (await toDeployments(deps, db, [row]))[0],
  }),
  ...revisionRoutes(reads, deps),
  promotionsRoute(reads),
  tokensRoute(reads, deps),
]

const revisionRoutes = (reads: Reads<Tables>, { pool }: RecordDeps): Route[] => [
  list({
    ...ofDeployment(reads),
    path: '/api/deployments/{deployment_id}/revisions',
    tag: 'deployments',
    summary: 'The revisions of a deployment, newest first',
    query: pageOfDeployment,
    row: revision,
    matching: ({ db, row }) => revisionsOf(db, row.deployment_id),
    select: revisions => revisions.selectAll().orderBy('number', 'desc'),
    shape: (rows, { db, row }, { caller }) => toRevisions({ db, pool, caller }, row, rows),
  }),
  one({
    ...ofDeployment(reads),
    path: '/api/deployments/{deployment_id}/revisions/{revision_id}',
    tag: 'deployments',
    summary: 'Read a revision',
    params: revisionPath,
    response: revision,
    missing: ({ revision_id }) => `No such revision: ${revision_id}`,
    async read({ db, row }, { caller, params }) {
      const one = await revisionsOf(db, row.deployment_id)
        .selectAll()
        .where('revision_id', '=', params.revision_id)
        .executeTakeFirst()
      return one && (await toRevisions({ db, pool, caller }, row, [one]))[0]
    },
  }),
]

const revisionsOf = (db: Db, deployment_id: string) =>
  db.selectFrom('deployment_revisions').where('deployment_id', '=', deployment_id)

type Pointers = {
  promoted_revision_id: string | null
  previous_revision_id: string | null
  benchmark_gates: string[]
}
type RevisionRow = Parameters<typeof toRevision>[0]

/** Each is compared with the promoted revision, which is itself compared with its predecessor. */
async function toRevisions(
  { db, pool, caller }: { db: Db; pool: Pool; caller: Person },
  { promoted_revision_id, previous_revision_id, benchmark_gates }: Pointers,
  rows: readonly RevisionRow[],
) {
  const ids = rows.map(one => one.revision_id)
  const [times, engines] = [await promotedAt(db, ids), await enginesOf(pool, ids)]
  const pointed = [promoted_revision_id, previous_revision_id].filter(id => id !== null)
  const compared = pointed.length === 0 ? [] : await sourcesOf(db, pointed)
  const sourceOf = (id: string | null) =>
    compared.find(({ revision_id }) => revision_id === id)?.source ?? null
  const all = [...rows, ...compared].map(({ source }) => source)
  const scores = await scoresOf(db, caller, all)
  const required = await gatesOf(db, benchmark_gates)
  return rows.map(one => {
    const promoted = one.revision_id === promoted_revision_id
    const other = sourceOf(promoted ? previous_revision_id : promoted_revision_id)
    const gates = deltasOf(scores(other), scores(one.source), required)
    const promoted_at = times.get(one.revision_id) ?? []
    return toRevision(one, { promoted, promoted_at, gates, engines: engines(one.revision_id) })
  })
}

const sourcesOf = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('deployment_revisions')
    .select(['revision_id', 'source'])
    .where('revision_id', 'in', ids)
    .execute()

async function promotedAt(db: Db, ids: readonly string[]): Promise<Map<string, Date[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('deployment_promotions')
    .select(['revision_id', sql<Date[]>`array_agg(at order by nth)`.as('times')])
    .where('revision_id', 'in', ids)
    .groupBy('revision_id')
    .execute()
  return new Map(rows.map(({ revision_id, times }) => [revision_id, times]))
}

const promotionsRoute = (reads: Reads<Tables>): Route =>
  list({
    ...ofDeployment(reads),
    path: '/api/deployments/{deployment_id}/promotions',
    tag: 'deployments',
    summary: 'Which revision was promoted when, by whom and why, newest first',
    query: pageOfDeployment,
    row: promotion,
    matching: ({ db, row }) =>
      db.selectFrom('deployment_promotions as p').where('p.deployment_id', '=', row.deployment_id),
    select: promotions =>
      promotions
        .innerJoin('deployment_revisions as r', 'r.revision_id', 'p.revision_id')
        .leftJoin('deployment_revisions as before', 'before.revision_id', 'p.previous_revision_id')
        .selectAll('p')
        .select(['r.number', 'r.source', 'r.serving'])
        .select(['before.source as source_before', 'before.serving as serving_before'])
        .orderBy('p.nth', 'desc'),
    async shape(rows, { db, row }, { caller }) {
      const gates = await gatesOf(db, row.benchmark_gates)
      const sources = rows.flatMap(one => [one.source, one.source_before])
      const scores = await scoresOf(db, caller, sources)
      return rows.map(
        ({ at, kind, revision_id, previous_revision_id, number, actor, ...more }) => ({
          ...{ at: toTimestamp(at), kind, revision_id, previous_revision_id, number, actor },
          reason: more.reason,
          diff: diffOf(
            { ...more.source_before, ...more.serving_before },
            { ...more.source, ...more.serving },
          ),
          benchmarks: deltasOf(scores(more.source_before), scores(more.source), gates),
          overridden: more.overridden,
        }),
      )
    },
  })

const tokensRoute = (reads: Reads<Tables>, { now }: Pick<RecordDeps, 'now'>): Route =>
  list({
    ...ofDeployment(reads),
    path: '/api/deployments/{deployment_id}/tokens',
    tag: 'deployments',
    summary:
      'The tokens of a deployment, revoked ones too, newest first; never the tokens themselves',
    query: pageOfDeployment,
    row: token,
    matching: ({ db, row }) =>
      db.selectFrom('deployment_tokens').where('deployment_id', '=', row.deployment_id),
    select: tokens => tokens.selectAll().orderBy('created_at', 'desc').orderBy('token_id', 'desc'),
    async shape(rows, { db, row }) {
      const uses = await usesOf(db, row.deployment_id, now())
      return rows.map(({ token_id, name, note, captures, created_by, created_at, revoked_at }) => ({
        ...{ token_id, name, note, prefix: prefixOf(token_id), created_by },
        capture: captures,
        ...(uses.get(token_id) ?? neverUsed),
        created_at: toTimestamp(created_at),
        revoked_at: revoked_at && toTimestamp(revoked_at),
      }))
    },
  })

/** The beginning of the token `dtk_<id>`, so that people can find it in their settings. */
const prefixOf = (token_id: string): string => token_id.replace(/^dtk_/, 'fdt_')
