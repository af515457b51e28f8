import type { Slice } from '../slice.ts'
import { viewRoutes } from './routes.ts'

export const views: Slice = {
  name: 'views',
  routes: viewRoutes,
  kind: null,
  announces: { view: 'nothing' },
  tables: ['write.saved_view'],
  examples: {
    paths: { 'views.view': 'default' },
    bodies: {
      'PUT /api/projects/{name}/views/{view}': {
        state: { panels: [{ kind: 'line', keys: ['val/loss'] }], group: 'hparams.lr' },
        shared: true,
      },
    },
  },
}
