import { type DecisionEvent, decisionEvents } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { decodeFact, type Fact } from '../../events/fact.ts'
import type { TopicName } from '../../events/topics.ts'
import { upcast } from '../../events/upcast.ts'
import type { ReadRecord } from '../../platform/log/event-log.ts'
import { nothing, type Outcome } from './outcome.ts'

type Common = {
  /** Never change it: it is stored with the checkpoint. */
  name: string
  /** Where a follower without a checkpoint begins: at the first record of the log, or at the next new one. */
  begins: 'start' | 'end'
  /**
   * For a record that keeps failing: `park` sets it aside and continues; `halt` stops until a new version of the
   * program handles it, for followers that must not skip anything.
   */
  onPoison: 'park' | 'halt'
  /** Called whenever a process begins to follow: it must forget its memory, because another process may have acted since. */
  begin?: () => void
  /** Milliseconds to wait for more records after a small batch, so that busy topics cost few transactions; default 0. */
  paceMs?: number
}

/**
 * Reads the log like a projection, but makes decisions. Its outcome is recorded once, in the transaction that moves
 * its checkpoint. `act` may run again for the same record after a failure, so it must not change anything itself. See
 * docs/contribute/effects.md.
 */
export type Follower<D> = Common & {
  topic: TopicName
  /** `D`: its dependencies. */
  act: (record: ReadRecord, deps: D) => Promise<Acted>
}

export type Acted = { causationId: string; requestId: string; outcome: Outcome }

/** Declares a follower of decision events. */
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

/** Declares a follower of the facts that running code reports. */
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
    const outcome = fact.type === 'run.purged' ? nothing : await follow(fact, deps)
    return { causationId: fact.event_id, requestId: fact.request_id, outcome }
  },
})

const definitionOf = new Map(decisionEvents.map(definition => [definition.type, definition]))

function todays(event: Recorded): Recorded<DecisionEvent> {
  const definition = definitionOf.get(event.type)
  if (!definition) throw new Error(`no event is called ${event.type}`)
  return { ...event, data: upcast(definition, event) } as Recorded<DecisionEvent>
}
