import type { Slice } from '../slice.ts'
import { retiredScoreReactor } from './delete-retired.ts'
import { rubricKind } from './kind.ts'
import { rubricRoutes } from './routes.ts'
import { rubricScoreRoutes } from './score-routes.ts'

/** Digest of a sample that a judge scored. */
const judged = `sha256:${'5'.repeat(64)}`
const judgement = {
  version: 1,
  judge: 'qwen3-32b@1a2b3c',
  scores: [{ sample: judged, score: 0.8, criteria: { clear: 0.8 } }],
}
const lookup = { judge: 'qwen3-32b@1a2b3c', samples: [judged] }
const ofRun = { run_id: 'demo-1', rubric: 'admin/helpful' }

export const rubrics: Slice = {
  name: 'rubrics',
  routes: deps => [...rubricRoutes(deps), ...rubricScoreRoutes(deps)],
  reactors: [retiredScoreReactor],
  kind: rubricKind,
  announces: {
    rubric: 'nothing',
  },
  tables: ['write.rubric_score', 'write.rubric_score_version'],
  examples: {
    paths: { 'rubrics.owner': 'ada', 'rubrics.name': 'helpful' },
    bodies: {
      'PUT /api/rubrics/{owner}/{name}': { name: 'helpful', criteria: [{ name: 'clear' }] },
      'POST /api/rubrics/{owner}/{name}/scores': judgement,
      'POST /api/rubrics/{owner}/{name}/scores/lookup': lookup,
      'POST /api/ingest/rubric/scores': { ...ofRun, ...judgement },
      'POST /api/ingest/rubric/scores/lookup': { ...ofRun, ...lookup },
    },
  },
}
