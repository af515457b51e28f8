import type { Static, TObject } from 'typebox'

/** Turns data of one version of an event into that of the next. */
export type Upcaster = (data: Record<string, unknown>) => Record<string, unknown>

/** What happened, as its schema: past tense, every field required, units in the names. */
export type EventDefinition<N extends string = string, S extends TObject = TObject> = {
  type: N
  schema_version: number
  data: S
  /** By which the audit tells it. */
  sentence(data: Static<S>, who: string): string
  /** The first one leads from version 1 to 2, and so on; recorded events are never rewritten. */
  upcasters: readonly Upcaster[]
}

/** The version of an event is one more than the upcasters that lead to it. */
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

/** An event with what a rule may know of its envelope. */
export type Stamped<E extends Event> = E & { occurred_at: string; actor: Actor }

/** An event as the log carries it. */
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

/** What the events of a stream amount to. */
export type Fold<S, E extends Event> = {
  initial: S
  evolve(state: S, event: Stamped<E>): S
  /**
   * For streams that grow without a bound: the state is kept from time to time, as JSON, which it must survive.
   * Another `shape` is folded anew.
   */
  snapshot?: { shape: number }
}

/** The events of one thing, with how they fold. */
export type Stream<S, E extends Event> = { aggregate: Fold<S, E>; stream: string }

/** A kind of thing: what can happen to it, and what that amounts to. */
export type Aggregate<S = unknown, E extends Event = Event> = Fold<S, E> & {
  /** Its streams begin with it, `rubric` in `rubric-alice/helpful`; without a hyphen. */
  name: string
  events: readonly EventDefinition[]
  /** The stream of one such thing. */
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
