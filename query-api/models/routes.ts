import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  aliasHistoryQuery,
  aliasMove,
  aliasPath,
  model,
  modelListQuery,
  modelPath,
  modelVersion,
  modelVersionLineage,
  pageOfModel,
  versionPath,
} from '../../schemas/models.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { mayRead } from '../access.ts'
import { listRoute } from '../list-route.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'
import { findModel, type Tables } from './find.ts'
import { lineageOf } from './lineage.ts'
import { readVersions, toModels } from './record.ts'

export const modelRoutes = (reads: Reads<Tables>): Route[] => [
  listRoute({
    path: '/api/models',
    credential: 'person',
    tag: 'models',
    summary: 'List the models one may read, by name',
    query: modelListQuery,
    row: model,
    async read({ caller, query: { project } }, { limit, offset }) {
      const db = reads.as(caller)
      const readable = db
        .selectFrom('models as d')
        .where('d.deleted_at', 'is', null)
        .where(mayRead(caller, 'd'))
        .$if(project !== undefined, one => one.where('d.project', '=', project ?? ''))
      const rows = await readable
        .selectAll()
        .orderBy('d.model')
        .limit(limit)
        .offset(offset)
        .execute()
      const counted = await countRows(db, readable.select('d.model'))
      return { rows: await toModels(db, rows), counted }
    },
  }),
  route({
    method: 'GET',
    path: '/api/models/{model}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Read a model with its aliases',
    params: modelPath,
    response: model,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { db, row } = await findModel(reads, caller, params.model)
      return (await toModels(db, [row]))[0]
    },
  }),
  ...versionRoutes(reads),
  historyRoute(reads),
]

const versionRoutes = (reads: Reads<Tables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/models/{model}/versions',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'The versions of a model, the newest first',
    params: modelPath,
    query: pageOfModel,
    response: Type.Array(modelVersion),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { db, row } = await findModel(reads, caller, params.model)
      const { limit = 50, offset = 0 } = query
      const all = db.selectFrom('model_versions').select('version').where('model', '=', row.model)
      const rows = await readVersions(db, { model: row.model, limit, offset })
      pageHeaders(ctx, { limit, offset, shown: rows.length }, await countRows(db, all))
      return rows
    },
  }),
  route({
    method: 'GET',
    path: '/api/models/{model}/versions/{version}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Read a version: what it came from, what that scored, where it is served',
    params: versionPath,
    response: modelVersionLineage,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { version } = params
      const { db, row } = await findModel(reads, caller, params.model)
      const [found] = await readVersions(db, { model: row.model, version, limit: 1, offset: 0 })
      if (!found) throw new Refusal('not_found', `The model ${row.model} has no version ${version}`)
      return { ...found, ...(await lineageOf(db, caller, found)) }
    },
  }),
]

const historyRoute = (reads: Reads<Tables>): Route =>
  route({
    method: 'GET',
    path: '/api/models/{model}/aliases/{alias}/history',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'What an alias named when, who moved it and why; with `at`, the move that held then',
    params: aliasPath,
    query: aliasHistoryQuery,
    response: Type.Array(aliasMove),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { db, row } = await findModel(reads, caller, params.model)
      const { at } = query
      const { limit = 50, offset = 0 } = at === undefined ? query : { limit: 1 }
      const all = db
        .selectFrom('model_alias_moves')
        .where('model', '=', row.model)
        .where('alias', '=', params.alias)
        .$if(at !== undefined, one => one.where('at', '<=', new Date(at ?? 0)))
      const rows = await all
        .selectAll()
        .orderBy('nth', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      const counted = await countRows(db, all.select('nth'))
      pageHeaders(
        ctx,
        { limit, offset, shown: rows.length },
        at === undefined ? counted : rows.length,
      )
      return rows.map(one => ({
        ...{ at: toTimestamp(one.at), actor: one.actor, reason: one.reason },
        ...{ from: one.from_version, to: one.to_version },
      }))
    },
  })
