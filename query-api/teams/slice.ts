import { teamPath } from '../../schemas/teams.ts'
import type { Slice } from '../slice.ts'
import { type Tables, teamRoutes } from './routes.ts'

export const teams: Slice<Tables> = {
  name: 'teams',
  routes: teamRoutes,
  pages: [
    { path: '/teams', summary: "One's own teams" },
    { path: '/teams/{name}', summary: 'A team', params: teamPath },
  ],
}
