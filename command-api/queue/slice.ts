import type { EngineEvent, QueueEvent } from '../../events/queue.ts'
import type { Announced, Slice } from '../slice.ts'
import { queueRoutes } from './routes.ts'

export const queue: Slice = {
  name: 'queue',
  routes: queueRoutes,
  kind: null,
  announces: {
    queue: {
      'queue.paused': 'queue',
      'queue.resumed': 'queue',
    } satisfies Announced<QueueEvent>,
    engine: {
      'engine.drained': 'queue',
      'engine.undrained': 'queue',
    } satisfies Announced<EngineEvent>,
  },
  unprojected: ['queue.paused', 'queue.resumed', 'engine.drained', 'engine.undrained'],
  tables: ['write.drain', 'write.queue_switch'],
  examples: {
    paths: { 'engines.engine': 'local' },
    bodies: {
      'PUT /api/admin/queue': { paused: true, reason: 'new disks until noon' },
      'PUT /api/admin/engines/{engine}': { draining: true, reason: 'a fan is loud' },
    },
  },
}
