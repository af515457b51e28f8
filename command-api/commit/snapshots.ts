import type { Event, Stream } from '../../events/event.ts'
import type { EventStore, Transaction } from './event-store.ts'

/** A new snapshot is written after this many events, which bounds what a command folds. */
const every = 50

export type LoadedState<S> = {
  state: S
  /** Version of the stream; 0 before its first event. */
  version: number
  /** Number of events read. */
  read: number
}

/** The state of a stream: its snapshot, if any, plus the events after it; without a transaction, as last committed. */
export async function loadState<S, E extends Event>(
  store: EventStore,
  tx: Transaction | undefined,
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
 * Stores the folded state if enough events were read. It covers only stored events: their data has been through
 * JSON, unlike the data of events about to be appended.
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
