import type { Static, TObject } from 'typebox'

/** What happened, as its schema: past tense, every field required, units in the names. */
export type EventDefinition<N extends string = string, S extends TObject = TObject> = {
  type: N
  schema_version: number
  data: S
  /** Turns data of an older version into this one's; recorded events are never rewritten. */
  upcast?: (data: Record<string, unknown>, from: number) => Record<string, unknown>
}

export const event = <const N extends string, S extends TObject>(
  type: N,
  data: S,
  schema_version = 1,
): EventDefinition<N, S> => ({ type, schema_version, data })

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
