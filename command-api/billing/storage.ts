import { type BillingEntry, billingAt } from '../../events/billing.ts'
import { dayMs, storageCost } from '../../events/calculations/billing.ts'
import type { Deps } from '../deps.ts'
import { further } from '../effects/further-duties.ts'
import { type Change, decided, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { storagePriceAt } from '../rules/storage-price.ts'
import { readStored, type Stored } from '../rules/stored-bytes.ts'

/** `slot`: the midnight (UTC) at which a day begins. `of` null: everybody. */
type Measure = { slot: string; of: Stored[] | null; price: string }
type Needed = Pick<Deps, 'pool'>

const name = 'storage bill'
const atOnce = 100

/**
 * Bills the data stored at the start of a day for its 24 hours, at the price of that moment. A day without any running server is
 * not billed, because nothing proves how much was stored.
 */
export const storageMeter = reactor<Measure, Needed>({
  name,
  repeat: 'local',
  every: {
    seconds: dayMs / 1000,
    payload: slot => ({ slot: slot.toISOString(), of: null, price: '0' }),
  },
  deadlineMs: 300_000,
  atOnce: 1,
  async perform({ duty_id, payload: { slot, of, price } }, { pool }): Promise<Outcome> {
    if (of !== null) return of.map(one => written(entryOf(one, slot, price)))
    const [stored, now] = [await readStored(pool), await storagePriceAt(pool, new Date(slot))]
    const parts = Array.from({ length: Math.ceil(stored.length / atOnce) }, (_, nth) =>
      stored.slice(nth * atOnce, (nth + 1) * atOnce),
    )
    return [
      further(
        duty_id,
        name,
        parts.map(part => ({ slot, of: part, price: now })),
      ),
    ]
  },
})

/** Once: the entry of a day has its own name. */
const written = (entry: BillingEntry): Change =>
  decided(billingAt(entry.entry_id), {
    decide: known => (known === null ? [{ type: 'billing.entry', data: entry }] : []),
  })

export function entryOf(
  { owner, project, bytes }: Stored,
  slot: string,
  price: string,
): BillingEntry {
  const day = slot.slice(0, 10)
  const byte_ms = BigInt(bytes) * BigInt(dayMs)
  return {
    entry_id: `storage:${day}:${owner}${project === null ? '' : `:${project}`}`,
    kind: 'storage',
    ...{ owner, project, run_id: null, day },
    starts_at: slot,
    ends_at: new Date(Date.parse(slot) + dayMs).toISOString(),
    byte_ms: String(byte_ms),
    price_per_gb_month: price,
    cost_micro: String(storageCost(byte_ms, price)),
    corrects: null,
    reason: '',
  }
}
