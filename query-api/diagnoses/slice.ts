import type { Slice } from '../slice.ts'
import { diagnosisRoutes, type Tables } from './routes.ts'

export const diagnoses: Slice<Tables> = {
  name: 'diagnoses',
  routes: ({ reads, now }) => diagnosisRoutes(reads, now),
  examples: { paths: { 'diagnoses.diagnosis_id': 412 } },
}
