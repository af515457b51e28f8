import type { Slice } from '../slice.ts'
import { hubPushKind } from './kind.ts'
import { pushesOfJobs } from './of-jobs.ts'
import { hubPusher } from './perform.ts'
import { hubPushRoutes } from './routes.ts'

export const hubPushes: Slice = {
  name: 'hub-pushes',
  routes: hubPushRoutes,
  reactors: [pushesOfJobs, hubPusher],
  kind: hubPushKind,
  announces: { hub_push: 'nothing' },
  tables: ['write.hub_push', 'write.hub_push_file'],
  examples: {
    paths: { 'hub-pushes.push_id': 'hpsh_0123456789abcdef0123456789' },
    bodies: {
      'POST /api/hub-pushes': { model: 'math-tutor@production', repo: 'acme/math-tutor' },
    },
  },
}
