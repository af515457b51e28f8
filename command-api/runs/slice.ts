import type { Slice } from '../slice.ts'
import { runKind } from './kind.ts'
import { runForgetter } from './purge.ts'
import { type RunPorts, runRoutes } from './routes.ts'

export const runs: Slice<RunPorts> = {
  name: 'runs',
  routes: runRoutes,
  reactors: [runForgetter],
  kind: runKind,
  announces: {
    run: 'nothing',
  },
  tables: ['write.run_state', 'write.unfinished_runs'],
  examples: {
    paths: { 'runs.run_id': 'demo-1' },
    bodies: {
      'POST /api/runs': { project: 'demo', name: 'train.py', tags: ['baseline'] },
      'POST /api/ingest/description': { run_id: 'demo-1', name: 'lr sweep, best', tags: ['sweep'] },
      'PATCH /api/runs/{run_id}': { notes: 'Diverges after a warm restart.', starred: true },
    },
  },
}
