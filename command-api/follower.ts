import { type DecisionEvent, decisionEvents } from '../events/all.ts'
import type { Recorded } from '../events/event.ts'
import { decodeFact, type Fact } from '../events/fact.ts'
import type { TopicName } from '../events/topics.ts'
import { upcast } from '../events/upcast.ts'
import type { ReadRecord } from '../platform/log/event-log.ts'
import type { Outcome } from './outcome.ts'

type Common = {
  /** Stored with its checkpoint: never changed. */
  name: string
  /** Where it begins that has no checkpoint yet: at the first record held, or at those still to come. */
  begins: 'start' | 'end'
  /**
   * What becomes of a record it cannot act on: `park` puts it aside and goes on; `halt` stands still until a
   * new version of the program can, for those that must leave nothing out.
   */
  onPoison: 'park' | 'halt'
}

/**
 * Reads the log as a projection does, but decides: what it returns is recorded once, in the transaction that moves its
 * checkpoint. Called again for the same record after a failure, so it changes nothing itself. See docs/effects.md.
 */
export type Follower<D> = Common & {
  topic: TopicName
  /** `D` is what it works with. */
  act: (record: ReadRecord, deps: D) => Promise<Acted>
}

export type Acted = { causationId: string; requestId: string; outcome: Outcome }

/** Follows decisions. */
export const decisionFollower = <D>({
  follow,
  ...common
}: Common & {
  follow: (event: Recorded<DecisionEvent>, deps: D) => Promise<Outcome>
}): Follower<D> => ({
  ...common,
  topic: 'decisions',
  async act({ value }, deps) {
    const event = todays(JSON.parse(value.toString('utf8')))
    const outcome = await follow(event, deps)
    return { causationId: event.event_id, requestId: event.request_id, outcome }
  },
})

/** Follows what running code reports. */
export const factFollower = <D>({
  follow,
  ...common
}: Common & {
  topic: Exclude<TopicName, 'decisions'>
  follow: (fact: Fact, deps: D) => Promise<Outcome>
}): Follower<D> => ({
  ...common,
  async act({ value }, deps) {
    const fact = decodeFact(value)
    const outcome = await follow(fact, deps)
    return { causationId: fact.event_id, requestId: fact.request_id, outcome }
  },
})

const definitionOf = new Map(decisionEvents.map(definition => [definition.type, definition]))

function todays(event: Recorded): Recorded<DecisionEvent> {
  const definition = definitionOf.get(event.type)
  if (!definition) throw new Error(`no event is called ${event.type}`)
  return { ...event, data: upcast(definition, event) } as Recorded<DecisionEvent>
}
