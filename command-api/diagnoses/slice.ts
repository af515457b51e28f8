import type { Slice } from '../slice.ts'
import { diagnosisCommenter } from './comment.ts'
import { diagnoser, diagnosisRequester } from './perform.ts'
import { diagnosisRoutes } from './routes.ts'

export const diagnoses: Slice = {
  name: 'diagnoses',
  routes: diagnosisRoutes,
  reactors: [diagnosisRequester, diagnoser, diagnosisCommenter],
  kind: null,
  announces: {
    diagnosis: 'nothing',
  },
  tables: ['write.diagnosis_number'],
  examples: {
    bodies: { 'POST /api/job/diagnose': { job_id: 'demo-1' } },
  },
}
