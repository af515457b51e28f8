import { decisionEvents } from '../events/all.ts'
import type { Topics } from '../events/topics.ts'
import { decisionsProjection } from './decisions.ts'
import type { DecisionProjection, TopicProjection } from './projection.ts'
import { purgedRuns } from './purged-runs.ts'
import type { Slice } from './slice.ts'
import * as listed from './slices.ts'

export const slices: readonly Slice[] = Object.values(listed)

/** The projections of decisions. */
export const decisionProjections: readonly DecisionProjection[] = [
  ...slices.flatMap(({ decisions }) => decisions ?? []),
  purgedRuns,
]

/** Creates every projection; called per generation because some keep caches. */
export const projections = (topics: Topics): TopicProjection[] => [
  decisionsProjection(topics.decisions.name, decisionProjections, decisionEvents),
  ...slices.flatMap(({ facts }) => facts?.(topics) ?? []),
]
