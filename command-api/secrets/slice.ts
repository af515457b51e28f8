import type { Slice } from '../slice.ts'
import { secretRoutes } from './routes.ts'

export const secrets: Slice = {
  name: 'secrets',
  routes: secretRoutes,
  kind: null,
  announces: { secret: 'nothing' },
  tables: ['write.secret'],
  examples: {
    paths: { 'secrets.name': 'HUB_TOKEN' },
    bodies: { 'PUT /api/secrets/{name}': { value: 'hf_example' } },
  },
}
