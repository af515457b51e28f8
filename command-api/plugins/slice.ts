import type { Slice } from '../slice.ts'
import { newMessageFollower } from './messages.ts'
import { pluginRoutes } from './routes.ts'
import { callTrimmer } from './trim.ts'

export const plugins: Slice = {
  name: 'plugins',
  routes: pluginRoutes,
  reactors: [callTrimmer],
  newFollowers: () => [newMessageFollower()],
  kind: null,
  announces: { plugin: 'nothing' },
  unprojected: ['plugin.set', 'plugin.removed'],
  tables: ['write.plugin', 'write.plugin_call', 'write.plugin_message'],
  examples: {
    paths: { 'plugins.name': 'policy' },
    bodies: {
      'PUT /api/admin/plugins/{name}': {
        url: 'https://plugins.example.com/forge',
        hooks: ['admission.validate'],
        mode: 'fail_closed',
      },
      'POST /api/admin/plugins/{name}/test': { hook: 'admission.validate' },
    },
  },
}
