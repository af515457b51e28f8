import type { Event, Stamped, Stream } from '../events/event.ts'
import { streamPosition } from '../platform/position.ts'
import { textLock } from '../platform/postgres/locks.ts'
import { lockInTransaction } from '../platform/postgres/with-lock.ts'
import { Refusal } from '../platform/refusal.ts'
import { ConcurrentWrite, type EventStore, type Stamp, type Transaction } from './event-store.ts'

export type Handle<S, E extends Event> = Stream<S, E> & {
  stamp: Stamp
  /** Takes what the rule needs beyond its stream (a name, a quota) in the same transaction; refuses by throwing. */
  reserve?: (tx: Transaction, decided: readonly E[], state: S) => Promise<void>
}

export type Handled<S, E extends Event> = {
  events: E[]
  /** The state after the events. */
  state: S
  position: string
}

const attempts = 3

/** Load, decide, append. Decides again, three times in all, when another writer came first. */
export async function handle<S, E extends Event>(
  store: EventStore,
  { stream, aggregate, stamp, reserve }: Handle<S, E>,
  decide: (state: S) => E[],
): Promise<Handled<S, E>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction(async tx => {
        await lockStream(tx, stream)
        const loaded = await store.load<E>(stream, tx)
        const state = loaded.events.reduce(aggregate.evolve, aggregate.initial)
        const events = decide(state)
        if (events.length > 0) {
          await reserve?.(tx, events, state)
          await store.append(tx, { stream, expectedVersion: loaded.version, events, stamp })
        }
        return {
          events,
          state: events.map(event => stamped(event, stamp)).reduce(aggregate.evolve, state),
          position: streamPosition(stream, loaded.version + events.length),
        }
      })
    } catch (error) {
      if (!(error instanceof ConcurrentWrite)) throw error
      if (attempt === attempts)
        throw new Refusal('conflict', `${stream} was changed by others at the same time; try again`)
    }
  }
}

/**
 * Writers of one stream queue up here instead of failing each other; the version check behind it stays
 * the rule, for writers that do not come this way.
 */
export async function lockStream(tx: Transaction, stream: string): Promise<void> {
  await lockInTransaction(tx, textLock(stream))
}

const stamped = <E extends Event>(event: E, { now, actor }: Stamp): Stamped<E> => ({
  ...event,
  occurred_at: now.toISOString(),
  actor,
})
