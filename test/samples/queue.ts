import type { Sample } from './sample.ts'

/** The waiting jobs are those of the sample of jobs; the engine is the executor of its profile. */
export const queueSample: Sample = {
  slice: 'queue',
  make: async () => ({ nouns: { engines: { engine: 'local' } } }),
  missing: (_, whose) => ({ nouns: { engines: { engine: `engine-of-${whose}` } } }),
  lists: { '/api/queue': 'its people' },
  changes: {
    'PUT /api/admin/queue': { body: () => ({ paused: true, reason: 'new disks' }) },
    'PUT /api/admin/engines/{engine}': { body: () => ({ draining: true, reason: null }) },
  },
}
