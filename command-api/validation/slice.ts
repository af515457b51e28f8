import type { Slice } from '../slice.ts'
import { deleteRoundsOf } from './rounds.ts'
import { validationRoutes } from './routes.ts'

export const validation: Slice = {
  name: 'validation',
  routes: validationRoutes,
  deleteRowsOfRun: deleteRoundsOf,
  kind: null,
  announces: {
    validation: 'nothing',
  },
  unprojected: ['validation.round_completed'],
  tables: ['write.validation_round'],
  examples: {
    bodies: {
      'POST /api/ingest/validation': {
        run_id: 'demo-1',
        step: 100,
        samples: [{ user: 'What is 2 + 2?', assistant: '4', reward: 1 }],
        avg_reward: 1,
      },
    },
  },
}
