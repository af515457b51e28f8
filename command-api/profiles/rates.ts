import type { Pool } from 'pg'
import { toMicro } from '../../events/calculations/billing.ts'
import { profileAt } from '../../events/profiles.ts'
import type { RateCard, RatesEvent, RatesVersion } from '../../events/rates.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { setProfile } from './decide.ts'
import { saveProfile } from './rows.ts'

/** Versions that may be planned at once. */
const mostPlanned = 20

export type Wanted = Pick<RatesVersion, 'gpu' | 'storage_per_gb_month'> & {
  /** Null: now. */
  effective_at: Date | null
}

/** A version replaces planned ones with the same or a later start. */
export function setRates({ last, planned }: RateCard, wanted: Wanted, now: Date): RatesEvent[] {
  const { gpu, storage_per_gb_month } = wanted
  const from = wanted.effective_at ?? now
  if (from < now)
    throw new Refusal('invalid', 'effective_at is in the past; what was used is billed already', {
      code: 'rates.past',
    })
  const effective_at = from.toISOString()
  const later = planned.filter(
    one => one.effective_at >= effective_at && new Date(one.effective_at) > now,
  )
  const due = planned.filter(one => new Date(one.effective_at) > now)
  if (due.length - later.length >= mostPlanned)
    throw new Refusal('conflict', `${mostPlanned} versions are planned already, the most`)
  const replaced = later.map(({ version }) => version)
  const data = { version: last + 1, effective_at, gpu, storage_per_gb_month, replaced }
  return [{ type: 'rates.set', data }]
}

/** Plans the prices of the profiles of these series; jobs see them once their time has come (`command-api/jobs/prices.ts`). */
export async function saveRates(
  tx: Transaction,
  { events, now, actor }: { events: readonly RatesEvent[]; now: Date; actor: { id: string } },
): Promise<void> {
  for (const { data } of events) {
    const { version, effective_at, gpu, storage_per_gb_month, replaced } = data
    await tx.query(
      `insert into write.rate_version (version, effective_at, gpu, storage_per_gb_month, set_by, set_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [version, effective_at, JSON.stringify(gpu), storage_per_gb_month, actor.id, now],
    )
    await tx.query('update write.rate_version set is_replaced = true where version = any($1)', [
      replaced,
    ])
    // Only versions of the card begin in the future.
    await tx.query(
      'delete from write.profile_rate where effective_at > $1 and effective_at >= $2',
      [now, effective_at],
    )
    await tx.query(
      `insert into write.profile_rate (profile, effective_at, price_per_gpu_hour)
       select p.name, $1, g.price::numeric
         from write.profile p join jsonb_each_text($2) as g (series, price) on g.series = p.series
       on conflict (profile, effective_at) do update set price_per_gpu_hour = excluded.price_per_gpu_hour`,
      [effective_at, JSON.stringify(gpu)],
    )
  }
}

type Due = { version: number; gpu: Record<string, string> }

/** Copies the prices of a version to the profiles when it begins, so that they are displayed and new jobs are admitted with them. */
export const ratesReactor = reactor<Due, Pick<Deps, 'pool'>>({
  name: 'rates',
  repeat: 'local',
  dutiesOf: ({ type, data }) =>
    type === 'rates.set'
      ? [
          {
            payload: { version: data.version, gpu: data.gpu },
            due_at: new Date(data.effective_at),
          },
        ]
      : [],
  perform: ({ payload }, { pool }) => begin(pool, payload),
})

async function begin(pool: Pool, { version, gpu }: Due): Promise<Outcome> {
  // A version that was set later for an earlier time began before, and one that was replaced never does.
  const { rows } = await pool.query<{ name: string; series: string }>(
    `select p.name, p.series from write.profile p, write.rate_version v
      where v.version = $1 and not v.is_replaced and p.series = any($2) order by p.name`,
    [version, Object.keys(gpu)],
  )
  return rows.map(({ name, series }): Change => {
    const price = gpu[series]
    return decided(profileAt(name), {
      decide: profile =>
        profile === null ||
        price === undefined ||
        toMicro(profile.price_per_gpu_hour) === toMicro(price)
          ? []
          : setProfile(profile, { ...profile, price_per_gpu_hour: price }),
      alongside: async (tx, { events }) => {
        for (const { data } of events) await saveProfile(tx, data)
      },
    })
  })
}
