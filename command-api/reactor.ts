import type { DecisionEvent } from '../events/all.ts'
import type { Event, Recorded } from '../events/event.ts'
import { bounded, type DutiesOf, dutyIdOf, type NewDuty } from './new-duty.ts'
import type { Outcome } from './outcome.ts'

/** Something to do because of an event; due at once where `due_at` is absent. */
export type Duty<P extends object> = { payload: P; due_at?: Date }

/** A duty as `perform` gets it. */
export type LeasedDuty<P extends object = object> = {
  /** The same at every attempt: give it to the receiver as the key of idempotency. */
  duty_id: string
  payload: P
  /** 1 at the first attempt. */
  attempt: number
  due_at: Date
}

/**
 * What makes a second `perform` of the same duty harmless. `by key`: the receiver gets `duty_id` and drops a repeat;
 * `ask first`: perform looks whether it is already done; `local`: it changes only our own rows, through its outcome.
 */
export type Repeat = 'by key' | 'ask first' | 'local'

/** Does one kind of thing because of events; `D` is what it works with. See docs/effects.md. */
export type ReactorOf<P extends object, D> = {
  /** Stored with each duty: never changed. */
  name: string
  repeat: Repeat
  /** Pure. Called for every event as it is appended, so it decides by the type first. None where absent. */
  dutiesOf?: (event: Recorded<DecisionEvent>) => readonly Duty<P>[]
  /** One duty for each slot besides, at multiples of `seconds` since 1970; never where absent. */
  every?: { seconds: number; payload: (slot: Date) => P } | null
  /**
   * Runs outside any transaction and may run again for the same duty. Throws when it must be tried again, and
   * `PermanentFailure` when that would be no use. Gives up when `signal` aborts.
   */
  perform: (duty: LeasedDuty<P>, deps: D, signal: AbortSignal) => Promise<Outcome>
  /** After as many failures the duty is parked; 8 where absent. */
  attempts?: number
  /** Longest one attempt may take, in milliseconds; 30,000 where absent. A lease is held twice as long. */
  deadlineMs?: number
  /** The first pause after a failure, doubled by each further one, at most an hour; 1,000 ms where absent. */
  backoffMs?: number
  /** How many are performed at once in one process; 4 where absent. */
  atOnce?: number
}

/** A reactor as the engine sees it, whatever its payload is. */
export type Reactor<D> = Required<ReactorOf<object, D>>

/** Declares a reactor; `dutiesOf` and `perform` share the type of its payload. */
export const reactor = <P extends object, D>(definition: ReactorOf<P, D>): Reactor<D> =>
  ({ ...usual, ...definition }) as unknown as Reactor<D>

const usual = {
  dutiesOf: () => [],
  every: null,
  attempts: 8,
  deadlineMs: 30_000,
  backoffMs: 1000,
  atOnce: 4,
}

/** Trying again would change nothing: the duty is parked at once. */
export class PermanentFailure extends Error {}

/** Every duty that an event gives to these reactors. */
export const dutiesFor =
  (reactors: readonly Pick<Reactor<never>, 'name' | 'dutiesOf'>[]): DutiesOf =>
  event =>
    reactors.flatMap(({ name, dutiesOf }) =>
      dutiesOf(event as Recorded<DecisionEvent>).map((duty, index) =>
        newDuty(event, name, duty, index),
      ),
    )

function newDuty(
  { event_id, stream, request_id, occurred_at }: Recorded<Event>,
  reactor: string,
  { payload, due_at }: Duty<object>,
  index: number,
): NewDuty {
  return {
    duty_id: dutyIdOf(event_id, reactor, index),
    reactor,
    cause: stream,
    event_id,
    request_id,
    payload: bounded(payload, reactor),
    created_at: occurred_at,
    due_at: due_at?.toISOString() ?? occurred_at,
  }
}
