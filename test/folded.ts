import { toEventJson } from '../command-api/commit/event-json.ts'
import { decisionEvents } from '../events/all.ts'
import type { Actor, Aggregate, Event } from '../events/event.ts'

const tester: Actor = { type: 'system', id: 'test', via: 'test' }
const definitions = new Map(decisionEvents.map(definition => [definition.type, definition]))

/** Returns the event; throws unless it could be recorded. */
export function recordable<E extends Event>(event: E): E {
  const definition = definitions.get(event.type)
  if (!definition) throw new Error(`${event.type} is not listed in events/all.ts`)
  toEventJson(definition, event)
  return event
}

/** The state after these events, for folds that ignore who caused them and when. */
export const folded = <S, E extends Event>(
  { initial, evolve }: Aggregate<S, E>,
  events: readonly E[],
): S =>
  events.reduce(
    (state, event) =>
      evolve(state, {
        ...recordable(event),
        occurred_at: '2026-11-20T00:00:00.000Z',
        actor: tester,
      }),
    initial,
  )
