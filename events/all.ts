import * as listed from './aggregates.ts'
import type { Aggregate, EventDefinition } from './event.ts'

type Listed = (typeof listed)[keyof typeof listed]

/** Every aggregate. */
export const aggregates: readonly Aggregate[] = Object.values(listed)

/** An event of any aggregate. */
export type DecisionEvent = Listed extends infer A
  ? A extends Aggregate<infer _, infer E>
    ? E
    : never
  : never

/** Every decision event, in the order of the aggregates. */
export const decisionEvents: readonly EventDefinition[] = aggregates.flatMap(({ events }) => events)
