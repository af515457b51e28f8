import type { Topics } from '../events/topics.ts'
import type { DecisionProjection, TopicProjection } from './projection.ts'

/** A slice with read models, as `<slice>/slice.ts` declares it and `slices.ts` lists it (docs/contribute/slices.md). */
export type Slice = {
  /** Its folder. */
  name: string
  /** From the events that decisions recorded. */
  decisions?: DecisionProjection
  /** From what running code reports; created per generation because some keep caches. */
  facts?: (topics: Topics) => TopicProjection
}
