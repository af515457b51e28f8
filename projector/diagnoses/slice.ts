import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { diagnosisProjection } from './projection.ts'

export const diagnoses: Slice = { name: 'diagnoses', decisions: decisions(diagnosisProjection) }
