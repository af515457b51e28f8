import type { Event, Stream } from '../events/event.ts'
import type { EventStore, Transaction } from './event-store.ts'

/** After so many events a snapshot is written anew: a command never folds many more. */
const every = 50

export type LoadedState<S> = {
  state: S
  /** Of the stream; 0 where it has no event yet. */
  version: number
  /** Events that had to be read. */
  read: number
}

/** What a stream amounts to: its snapshot, where its aggregate has any, and the events after it. */
export async function loadState<S, E extends Event>(
  store: EventStore,
  tx: Transaction,
  { stream, aggregate }: Stream<S, E>,
): Promise<LoadedState<S>> {
  const { initial, evolve, snapshot } = aggregate
  const loaded = await store.load<E>(stream, tx, snapshot)
  const from = loaded.snapshot === null ? initial : (loaded.snapshot.state as S)
  return {
    state: loaded.events.reduce(evolve, from),
    version: loaded.version,
    read: loaded.events.length,
  }
}

/**
 * Keeps what was just folded, where enough was read for it. Only what events say that are stored: their data
 * has been through JSON, as that of events which are about to be appended has not.
 */
export async function keepSnapshot<S, E extends Event>(
  tx: Transaction,
  { stream, aggregate: { snapshot } }: Stream<S, E>,
  { state, version, read }: LoadedState<S>,
): Promise<void> {
  if (!snapshot || read < every) return
  await tx.query({
    name: 'keep_snapshot',
    text: `insert into write.snapshot (stream, version, shape, state) values ($1, $2, $3, $4)
           on conflict (stream) do update
             set version = excluded.version, shape = excluded.shape, state = excluded.state`,
    values: [stream, version, snapshot.shape, JSON.stringify(state)],
  })
}
