import type { Static } from 'typebox'
import type { comparison } from '../../../../../schemas/compare.ts'

export type Comparison = Static<typeof comparison>
