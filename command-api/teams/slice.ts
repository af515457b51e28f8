import type { Slice } from '../slice.ts'
import { teamKind } from './kind.ts'
import { teamRoutes } from './routes.ts'

export const teams: Slice = {
  name: 'teams',
  routes: teamRoutes,
  kind: teamKind,
  announces: {
    // A larger pool lets waiting jobs start.
    team: {
      'team.created': 'none',
      'team.changed': 'none',
      'team.pool_set': 'queue',
      'team.member_set': 'none',
      'team.member_removed': 'none',
      'team.group_set': 'none',
      'team.group_removed': 'none',
      'team.deleted': 'none',
    },
  },
  tables: ['write.team', 'write.team_member', 'write.team_group'],
  examples: {
    paths: { 'teams.name': 'rl', 'groups.group': 'ml-research' },
    bodies: {
      'POST /api/teams': { name: 'rl', description: 'Reinforcement learning' },
      'PATCH /api/teams/{name}': { pool: { max_concurrent_gpus: 16 } },
      'PUT /api/teams/{name}/members/{username}': { role: 'member' },
      'PUT /api/teams/{name}/groups/{group}': { role: 'member' },
      'POST /api/teams/{name}/leave': { hand_over_to: 'ada' },
    },
  },
}
