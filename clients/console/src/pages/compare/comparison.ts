import type { Static } from 'typebox'
import type { comparison } from '../../../../../schemas/runs/compare.ts'

export type Comparison = Static<typeof comparison>

/** How often a comparison of active runs is refreshed: following each of twenty would take a topic for each. */
export const compareAgainMs = 3_000
