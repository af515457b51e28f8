import { reflowPath } from '../../schemas/reflows.ts'
import type { Slice } from '../slice.ts'
import { reflowRoutes, type Tables } from './routes.ts'

export const reflows: Slice<Tables> = {
  name: 'reflows',
  routes: ({ reads }) => reflowRoutes(reads),
  pages: [
    { path: '/reflows', summary: 'Reflows: datasets from traffic, samples and annotations' },
    { path: '/reflows/{reflow_id}', summary: 'A reflow', params: reflowPath },
  ],
}
