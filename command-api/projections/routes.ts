import type { Static } from 'typebox'
import { type Route, route } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  projectionList,
  projectionPath,
  type projectionRow,
  rebuildStatus,
} from '../../schemas/projections.ts'

export type ProjectionRow = Static<typeof projectionRow>
export type RebuildStatus = Static<typeof rebuildStatus>

/** What administrators may see and do of the projector; handed in by the wiring. */
export type ProjectionAdmin = {
  list(): Promise<ProjectionRow[]>
  rebuildStatus(): RebuildStatus
  /** Begins a rebuild; false when one is at work. */
  beginRebuild(): boolean
}

/** All projections share one generation of tables, so any name rebuilds them all. */
const everything = 'all'

export const projectionRoutes = (admin: ProjectionAdmin): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/projections',
    credential: 'admin',
    tag: 'admin',
    summary: 'Lag, generation and parked records of each projection, and how a rebuild goes',
    response: projectionList,
    handle: async () => ({ projections: await admin.list(), rebuild: admin.rebuildStatus() }),
  }),
  route({
    method: 'POST',
    path: '/api/admin/projections/{name}/rebuild',
    credential: 'admin',
    tag: 'admin',
    summary: 'Rebuild the read models from the log beside the live ones, then flip',
    params: projectionPath,
    response: rebuildStatus,
    refusals: ['not_found', 'conflict'],
    async handle({ params }) {
      const names = (await admin.list()).map(row => row.name)
      if (params.name !== everything && !names.includes(params.name))
        throw new Refusal(
          'not_found',
          `No such projection: ${params.name}; known are ${names.join(', ')}, ${everything}`,
        )
      if (!admin.beginRebuild()) throw new Refusal('conflict', 'A rebuild is already at work')
      return admin.rebuildStatus()
    },
  }),
]
