import type { Slice } from '../slice.ts'
import { annotationKind } from './kind.ts'
import { type AnnotationPorts, annotationRoutes } from './routes.ts'
import { deleteItemsOfRun } from './rows.ts'

export const annotations: Slice<AnnotationPorts> = {
  name: 'annotations',
  routes: annotationRoutes,
  deleteRowsOfRun: deleteItemsOfRun,
  kind: annotationKind,
  announces: { annotation: 'nothing', annotation_answer: 'nothing' },
  tables: ['write.annotation_queue', 'write.annotation_item', 'write.annotation_claim'],
  examples: {
    paths: { 'annotations.queue_id': 'anq_01J00000000000000000000000', 'items.item': 1 },
    bodies: {
      'POST /api/annotations': {
        name: 'which answer is better',
        project: 'demo',
        kind: 'pairwise',
        source: { type: 'samples', run_id: 'demo-1', step: 100, against: { step: 200 } },
        overlap: 2,
      },
      'POST /api/annotations/{queue_id}/answers': { item: 1, answer: { choice: 'a' } },
      'POST /api/annotations/{queue_id}/skips': { item: 1 },
      'POST /api/annotations/{queue_id}/undo': {
        item: 1,
        decided_at: '2026-11-20T12:00:00.000Z',
      },
      'POST /api/annotations/{queue_id}/export': { dataset: 'ada/preferences' },
    },
  },
}
