import type { Static } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { type ProjectionEvent, projectionAt } from '../../events/projections.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  projectionList,
  projectionPath,
  type projectionRow,
  rebuildStatus,
} from '../../schemas/projections.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'

export type ProjectionRow = Static<typeof projectionRow>
export type RebuildStatus = Static<typeof rebuildStatus>

/** The administrators' operations on the projector; provided by server/. */
export type ProjectionAdmin = {
  list(): Promise<ProjectionRow[]>
  rebuildStatus(): RebuildStatus
  /** Starts a rebuild; false if one is already running. */
  beginRebuild(): boolean
}

/** All projections share one generation of tables, so any name rebuilds them all. */
const everything = 'all'

/** The projector decides whether a rebuild may start. */
export const projectionRoutes = (deps: Deps, admin: ProjectionAdmin): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/projections',
    credential: 'admin',
    tag: 'admin',
    summary: 'Lag, generation and parked records of each projection, and the progress of a rebuild',
    response: projectionList,
    handle: async () => ({ projections: await admin.list(), rebuild: admin.rebuildStatus() }),
  }),
  route({
    method: 'POST',
    path: '/api/admin/projections/{name}/rebuild',
    credential: 'admin',
    tag: 'admin',
    summary: 'Rebuild the read models from the log while the old ones serve, then switch over',
    params: projectionPath,
    response: rebuildStatus,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { params } = request
      const names = (await admin.list()).map(row => row.name)
      if (params.name !== everything && !names.includes(params.name))
        throw new Refusal(
          'not_found',
          `No such projection: ${params.name}; choose one of ${names.join(', ')}, ${everything}`,
        )
      if (admin.rebuildStatus().state === 'running') throw atWork()
      // Recorded before it starts, so that no rebuild starts unrecorded.
      await commit(deps, request, projectionAt(params.name), {
        decide: (): ProjectionEvent[] => [
          { type: 'projection.rebuild_requested', data: { projection: params.name } },
        ],
      })
      if (!admin.beginRebuild()) throw atWork()
      return admin.rebuildStatus()
    },
  }),
]

const atWork = () => new Refusal('conflict', 'A rebuild is already running')
