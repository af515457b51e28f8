import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import {
  aliasHistoryQuery,
  aliasMove,
  aliasPath,
  model,
  modelListQuery,
  modelVersion,
  modelVersionLineage,
  pageOfModel,
  versionPath,
} from '../../schemas/models.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one, pagedList } from '../reading/list.ts'
import { countRows, pageHeaders } from '../reading/page.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { mayRead } from '../rules/access.ts'
import { ofModel, type Tables } from './find.ts'
import { lineageOf } from './lineage.ts'
import { readVersions, toModels } from './record.ts'

export const modelRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/models',
    tag: 'models',
    summary: 'List the models one may read, by name',
    query: modelListQuery,
    row: model,
    matching: ({ db }, { caller, query: { project } }) =>
      db
        .selectFrom('models as d')
        .where('d.deleted_at', 'is', null)
        .where(mayRead(caller, 'd'))
        .$if(project !== undefined, one => one.where('d.project', '=', project ?? '')),
    select: readable => readable.selectAll().orderBy('d.model'),
    shape: (rows, { db }) => toModels(db, rows),
  }),
  one({
    ...ofModel(reads),
    path: '/api/models/{model}',
    tag: 'models',
    summary: 'Read a model with its aliases',
    response: model,
    read: async ({ db, row }) => (await toModels(db, [row]))[0],
  }),
  ...versionRoutes(reads),
  historyRoute(reads),
]

const versionRoutes = (reads: Reads<Tables>): Route[] => [
  pagedList({
    ...ofModel(reads),
    path: '/api/models/{model}/versions',
    tag: 'models',
    summary: 'The versions of a model, newest first',
    query: pageOfModel,
    row: modelVersion,
    async read({ db, row }, _, page) {
      const all = db.selectFrom('model_versions').select('version').where('model', '=', row.model)
      const rows = await readVersions(db, { model: row.model, ...page })
      return { rows, counted: await countRows(db, all) }
    },
  }),
  one({
    ...ofModel(reads),
    path: '/api/models/{model}/versions/{version}',
    tag: 'models',
    summary: 'Read a version: what it came from, what that scored, where it is served',
    params: versionPath,
    response: modelVersionLineage,
    missing: ({ model, version }) => `The model ${model} has no version ${version}`,
    async read({ db, row }, { caller, params: { version } }) {
      const [found] = await readVersions(db, { model: row.model, version, limit: 1, offset: 0 })
      return found && { ...found, ...(await lineageOf(db, caller, found)) }
    },
  }),
]

const historyRoute = (reads: Reads<Tables>): Route => {
  const { of, ...common } = ofModel(reads)
  return route({
    ...common,
    method: 'GET',
    path: '/api/models/{model}/aliases/{alias}/history',
    tag: 'models',
    summary: 'What an alias named when, who moved it and why; with `at`, the move that held then',
    params: aliasPath,
    query: aliasHistoryQuery,
    response: Type.Array(aliasMove),
    async handle(request) {
      const { params, query, ctx } = request
      const { db, row } = await of(request)
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
        ...{ from: one.from_version, to: one.to_version, overridden: one.overridden },
      }))
    },
  })
}
