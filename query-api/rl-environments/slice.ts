import { rlEnvironmentPath } from '../../schemas/rl-environments/rl-environments.ts'
import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { rlEnvironmentRoutes } from './routes.ts'

export const rlEnvironments: Slice<Tables> = {
  name: 'rl-environments',
  routes: ({ reads }) => rlEnvironmentRoutes(reads),
  pages: [
    { path: '/environments', summary: 'RL environments' },
    {
      path: '/environments/{owner}/{name}',
      summary: 'An RL environment',
      params: rlEnvironmentPath,
    },
  ],
}
