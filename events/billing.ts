import { type Static, Type } from 'typebox'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** What a bill consists of besides the GPU time of jobs, whose ledger is derived from their own events. */
export const billingEntry = event(
  'billing.entry',
  Type.Object({
    entry_id: Type.String(),
    kind: oneOf('storage', 'correction'),
    owner: Type.String(),
    /** Null: it belongs to a person, not to a project. */
    project: nullable(Type.String()),
    run_id: nullable(Type.String()),
    /** `2026-11-20`, UTC. */
    day: Type.String(),
    starts_at: Type.String(),
    ends_at: Type.String(),
    /** Bytes times milliseconds, a whole number. */
    byte_ms: Type.String(),
    price_per_gb_month: Type.String(),
    /** Signed millionths of the currency. */
    cost_micro: Type.String(),
    /** The entry that it corrects. */
    corrects: nullable(Type.String()),
    reason: Type.String(),
  }),
  ({ entry_id, kind, owner, cost_micro, corrects }, who) =>
    kind === 'storage'
      ? `${who} billed the storage of ${owner}: ${entry_id}`
      : `${who} corrected ${corrects} of ${owner} by ${cost_micro} millionths`,
)

export type BillingEvent = EventOf<typeof billingEntry>
export type BillingEntry = Static<typeof billingEntry.data>

/** Null before it is written; it never changes. */
export type WrittenEntry = BillingEntry | null

function evolve(_: WrittenEntry, event: BillingEvent): WrittenEntry {
  switch (event.type) {
    case 'billing.entry':
      return event.data
  }
}

/** A stream for each entry, so that writing one again changes nothing. */
export const billing = aggregate('billing', { events: [billingEntry], initial: null, evolve })
export const billingAt = (entry_id: string) => billing.at(entry_id)
