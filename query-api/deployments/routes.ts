import { sql } from 'kysely'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  deployment,
  deploymentListQuery,
  deploymentPath,
  pageOfDeployment,
  promotion,
  revision,
  revisionPath,
  token,
} from '../../schemas/deployments.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { mayRead } from '../access.ts'
import { listRoute } from '../list-route.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'
import { diffOf } from './diff.ts'
import { type Db, findDeployment, type Tables } from './find.ts'
import { neverUsed, usesOf } from './last-day.ts'
import { type RecordDeps, toDeployments, toRevision } from './record.ts'

export const deploymentRoutes = (reads: Reads<Tables>, deps: RecordDeps): Route[] => [
  listRoute({
    path: '/api/deployments',
    credential: 'person',
    tag: 'deployments',
    summary: 'List the deployments one may read, the newest first',
    query: deploymentListQuery,
    row: deployment,
    async read({ caller, query }, { limit, offset }) {
      const db = reads.as(caller)
      const { project, state } = query
      const readable = db
        .selectFrom('deployments as d')
        .where('d.state', '<>', 'deleted')
        .where(mayRead(caller, 'd'))
        .$if(project !== undefined, one => one.where('d.project', '=', project ?? ''))
        .$if(state !== undefined, one => one.where('d.state', '=', state ?? 'ready'))
      const rows = await readable
        .selectAll()
        .orderBy('d.created_at', 'desc')
        .orderBy('d.deployment_id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      const counted = await countRows(db, readable.select('d.deployment_id'))
      return { rows: await toDeployments(deps, db, rows), counted }
    },
  }),
  route({
    method: 'GET',
    path: '/api/deployments/{deployment_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Read a deployment',
    params: deploymentPath,
    response: deployment,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { db, row } = await findDeployment(reads, caller, params.deployment_id)
      return (await toDeployments(deps, db, [row]))[0]
    },
  }),
  ...revisionRoutes(reads),
  promotionsRoute(reads),
  tokensRoute(reads, deps),
]

const revisionRoutes = (reads: Reads<Tables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/deployments/{deployment_id}/revisions',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'The revisions of a deployment, the newest first',
    params: deploymentPath,
    query: pageOfDeployment,
    response: Type.Array(revision),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const { db, row } = await findDeployment(reads, caller, params.deployment_id)
      const all = revisionsOf(db, row.deployment_id)
      const rows = await all
        .selectAll()
        .orderBy('number', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(ctx, { limit, offset }, await countRows(db, all.select('revision_id')))
      const times = await promotedAt(
        db,
        rows.map(one => one.revision_id),
      )
      return rows.map(one =>
        toRevision(one, {
          promoted: one.revision_id === row.promoted_revision_id,
          promoted_at: times.get(one.revision_id) ?? [],
        }),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/api/deployments/{deployment_id}/revisions/{revision_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Read a revision',
    params: revisionPath,
    response: revision,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { db, row } = await findDeployment(reads, caller, params.deployment_id)
      const one = await revisionsOf(db, row.deployment_id)
        .selectAll()
        .where('revision_id', '=', params.revision_id)
        .executeTakeFirst()
      if (!one) throw new Refusal('not_found', `No such revision: ${params.revision_id}`)
      const times = await promotedAt(db, [one.revision_id])
      return toRevision(one, {
        promoted: one.revision_id === row.promoted_revision_id,
        promoted_at: times.get(one.revision_id) ?? [],
      })
    },
  }),
]

const revisionsOf = (db: Db, deployment_id: string) =>
  db.selectFrom('deployment_revisions').where('deployment_id', '=', deployment_id)

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
  route({
    method: 'GET',
    path: '/api/deployments/{deployment_id}/promotions',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Which revision was promoted when, by whom and why, the newest first',
    params: deploymentPath,
    query: pageOfDeployment,
    response: Type.Array(promotion),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const { db, row } = await findDeployment(reads, caller, params.deployment_id)
      const all = db
        .selectFrom('deployment_promotions as p')
        .where('p.deployment_id', '=', row.deployment_id)
      const rows = await all
        .innerJoin('deployment_revisions as r', 'r.revision_id', 'p.revision_id')
        .leftJoin('deployment_revisions as before', 'before.revision_id', 'p.previous_revision_id')
        .selectAll('p')
        .select(['r.number', 'r.source', 'r.serving'])
        .select(['before.source as source_before', 'before.serving as serving_before'])
        .orderBy('p.nth', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(ctx, { limit, offset }, await countRows(db, all.select('p.nth')))
      return rows.map(
        ({ at, kind, revision_id, previous_revision_id, number, actor, ...more }) => ({
          ...{ at: toTimestamp(at), kind, revision_id, previous_revision_id, number, actor },
          reason: more.reason,
          diff: diffOf(
            { ...more.source_before, ...more.serving_before },
            { ...more.source, ...more.serving },
          ),
        }),
      )
    },
  })

const tokensRoute = (reads: Reads<Tables>, { now }: Pick<RecordDeps, 'now'>): Route =>
  route({
    method: 'GET',
    path: '/api/deployments/{deployment_id}/tokens',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary:
      'The tokens of a deployment, revoked ones too, the newest first; never the tokens themselves',
    params: deploymentPath,
    query: pageOfDeployment,
    response: Type.Array(token),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const { db, row } = await findDeployment(reads, caller, params.deployment_id)
      const all = db.selectFrom('deployment_tokens').where('deployment_id', '=', row.deployment_id)
      const rows = await all
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('token_id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(ctx, { limit, offset }, await countRows(db, all.select('token_id')))
      const uses = await usesOf(db, row.deployment_id, now())
      return rows.map(({ token_id, name, note, created_by, created_at, revoked_at }) => ({
        ...{ token_id, name, note, prefix: prefixOf(token_id), created_by },
        ...(uses.get(token_id) ?? neverUsed),
        created_at: toTimestamp(created_at),
        revoked_at: revoked_at && toTimestamp(revoked_at),
      }))
    },
  })

/** What the token `dtk_<id>` begins with, for people who look for it in their settings. */
const prefixOf = (token_id: string): string => token_id.replace(/^dtk_/, 'fdt_')
