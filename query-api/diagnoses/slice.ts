import type { Slice } from '../slice.ts'
import { diagnosisRoutes, type Tables } from './routes.ts'

export const diagnoses: Slice<Tables> = {
  name: 'diagnoses',
  routes: ({ reads, now }) => diagnosisRoutes(reads, now),
  pages: [{ path: '/diagnoses', summary: 'The most frequent failures, and their trend' }],
  examples: {
    paths: { 'diagnoses.diagnosis_id': 412 },
    queries: { 'GET /api/diagnoses/fingerprints': { project: 'demo', category: 'gpu_oom' } },
  },
}
