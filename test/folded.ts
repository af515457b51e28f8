import type { Actor, Aggregate, Event } from '../events/event.ts'

const tester: Actor = { type: 'system', id: 'test', via: 'test' }

/** What these events amount to, where nobody asks who caused them and when. */
export const folded = <S, E extends Event>(
  { initial, evolve }: Aggregate<S, E>,
  events: readonly E[],
): S =>
  events.reduce(
    (state, event) =>
      evolve(state, { ...event, occurred_at: '2026-11-20T00:00:00.000Z', actor: tester }),
    initial,
  )
