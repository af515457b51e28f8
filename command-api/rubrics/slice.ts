import type { Slice } from '../slice.ts'
import { retiredScoreReactor } from './delete-retired.ts'
import type { JudgePorts } from './judging/port.ts'
import { judgingRoutes } from './judging/routes.ts'
import { deleteJudgings } from './judging/rows.ts'
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

export const rubrics: Slice<JudgePorts> = {
  name: 'rubrics',
  routes: (deps, ports) => [
    ...rubricRoutes(deps),
    ...rubricScoreRoutes(deps),
    ...judgingRoutes(deps, ports),
  ],
  reactors: [retiredScoreReactor],
  kind: rubricKind,
  announces: {
    rubric: 'nothing',
    judging: 'nothing',
  },
  unprojected: ['judging.requested', 'judging.ended', 'judging.cancelled'],
  deleteRowsOfRun: deleteJudgings,
  tables: ['write.judgement', 'write.judging', 'write.rubric_score', 'write.rubric_score_version'],
  examples: {
    paths: { 'rubrics.owner': 'ada', 'rubrics.name': 'helpful' },
    bodies: {
      'PUT /api/rubrics/{owner}/{name}': { name: 'helpful', criteria: [{ name: 'clear' }] },
      'POST /api/rubrics/{owner}/{name}/scores': judgement,
      'POST /api/rubrics/{owner}/{name}/scores/lookup': lookup,
      'POST /api/rubrics/{owner}/{name}/test': {
        run_id: 'demo-1',
        judge: 'dep_01J00000000000000000000000',
      },
      'POST /api/runs/{run_id}/judgings': {
        rubric: 'ada/helpful',
        judge: 'dep_01J00000000000000000000000',
        step: 100,
      },
      'POST /api/ingest/rubric/scores': { ...ofRun, ...judgement },
      'POST /api/ingest/rubric/scores/lookup': { ...ofRun, ...lookup },
    },
  },
}
