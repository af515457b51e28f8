import type { Static, TObject } from 'typebox'

/** Converts the data of one event version to the next. */
export type Upcaster = (data: Record<string, unknown>) => Record<string, unknown>

/** The schema of an event: named in past tense, all fields required, units in the names. */
export type EventDefinition<N extends string = string, S extends TObject = TObject> = {
  type: N
  schema_version: number
  data: S
  /** How the audit describes it. */
  sentence(data: Static<S>, who: string): string
  /** The first converts version 1 to 2, and so on; recorded events are never rewritten. */
  upcasters: readonly Upcaster[]
}

/** The version of an event is the number of its upcasters plus one. */
export const event = <const N extends string, S extends TObject>(
  type: N,
  data: S,
  sentence: (data: Static<S>, who: string) => string,
  ...upcasters: readonly Upcaster[]
): EventDefinition<N, S> => ({
  type,
  schema_version: upcasters.length + 1,
  data,
  sentence,
  upcasters,
})

export type EventOf<D> =
  D extends EventDefinition<infer N, infer S> ? { type: N; data: Static<S> } : never

export type Event = { type: string; data: object }

/** Who caused an event, and by which credential (`password`, `ingest_token`, `scheduler`, …). */
export type Actor = { type: 'user' | 'run' | 'system'; id: string; via: string }

/** An event with the parts of its envelope that rules may use. */
export type Stamped<E extends Event> = E & { occurred_at: string; actor: Actor }

/** An event in its form on the log. */
export type Recorded<E extends Event = Event> = E & {
  event_id: string
  schema_version: number
  stream: string
  /** 1 for the first event of the stream. */
  stream_version: number
  occurred_at: string
  actor: Actor
  request_id: string
  causation_id: string | null
}

/** How the events of a stream fold into a state. */
export type Fold<S, E extends Event> = {
  initial: S
  evolve(state: S, event: Stamped<E>): S
  /**
   * For streams of unbounded length: the state is stored periodically as JSON, and must survive the round trip. A
   * snapshot of another `shape` is ignored.
   */
  snapshot?: { shape: number }
}

/** The events of an aggregate, and how they fold. */
export type Stream<S, E extends Event> = { aggregate: Fold<S, E>; stream: string }

/** A kind of aggregate with its events and their fold. */
export type Aggregate<S = unknown, E extends Event = Event> = Fold<S, E> & {
  /** The prefix of its streams, `rubric` in `rubric-alice/helpful`; without a hyphen. */
  name: string
  events: readonly EventDefinition[]
  /** The stream of one aggregate of this kind. */
  at(id: string): Stream<S, E>
}

type Parts<S, D extends readonly EventDefinition[]> = {
  events: D
  initial: NoInfer<S>
  evolve: (state: S, event: Stamped<EventOf<D[number]>>) => S
  snapshot?: { shape: number }
}

export function aggregate<S, const D extends readonly EventDefinition[]>(
  name: string,
  parts: Parts<S, D>,
): Aggregate<S, EventOf<D[number]>> {
  const made = {
    name,
    ...parts,
    at: (id: string) => ({ aggregate: made, stream: `${name}-${id}` }),
  }
  return made
}
