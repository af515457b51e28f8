import type { Slice } from '../slice.ts'
import { type ProjectionAdmin, projectionRoutes } from './routes.ts'

export const projections: Slice<{ projections: ProjectionAdmin }> = {
  name: 'projections',
  routes: (deps, { projections: admin }) => projectionRoutes(deps, admin),
  kind: null,
  announces: {
    projection: 'nothing',
  },
  unprojected: ['projection.rebuild_requested'],
  examples: {
    paths: { 'projections.name': 'runs' },
  },
}
