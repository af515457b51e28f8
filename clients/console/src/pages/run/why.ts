import type { Diagnosis } from '../../../../../schemas/diagnoses.ts'

export const isUnderWay = (diagnosis: Diagnosis | undefined): boolean =>
  diagnosis !== undefined && ['pending', 'running'].includes(diagnosis.status)
