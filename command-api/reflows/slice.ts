import type { Slice } from '../slice.ts'
import { reflowKind } from './kind.ts'
import type { ReflowPorts } from './port.ts'
import { capturedRetention } from './retain.ts'
import { reflowRoutes } from './routes.ts'

const deployment_id = 'dep_01J00000000000000000000000'

export const reflows: Slice<ReflowPorts> = {
  name: 'reflows',
  routes: reflowRoutes,
  reactors: [capturedRetention],
  kind: reflowKind,
  announces: { reflow: 'nothing', erasure: 'nothing' },
  unprojected: ['reflow.erased'],
  tables: [
    'write.captured_drop',
    'write.captured_request',
    'write.captured_size',
    'write.reflow',
    'write.reflow_erasure',
    'write.reflow_taken',
  ],
  examples: {
    paths: { 'reflows.reflow_id': 'rfl_01J00000000000000000000000' },
    bodies: {
      'POST /api/reflows': {
        name: 'good answers',
        source: { type: 'traffic', deployment_id },
        filter: 'completion_tokens>=20 NOT "as an AI"',
        target_dataset: 'ada/traffic',
      },
      'POST /api/reflows/{reflow_id}/run': { window: '2026-11-27T08' },
      'POST /api/reflows/erase': { deployment_id, user: 'customer-17' },
    },
  },
}
