import type { AlertEvent, Alerts } from '../../events/alerts.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Maintains the rows of open alerts; part of every commit on a run's alerts. */
export async function saveAlerts(
  tx: Transaction,
  { events, now }: Decided<Alerts, AlertEvent>,
): Promise<void> {
  for (const { type, data } of events) {
    if (type === 'alert.resolved')
      await tx.query('delete from write.alert_open where alert_id = $1', [data.alert_id])
    else if (data.lasting)
      await tx.query(
        'insert into write.alert_open (alert_id, run_id, rule, key, fired_at) values ($1, $2, $3, $4, $5)',
        [data.alert_id, data.run_id, data.rule, data.key, now],
      )
  }
}

/** The observations of a run for one rule; times in epoch milliseconds. */
export type Observed = {
  run_id: string
  rule: string
  attempt: number
  for_s: number
  since: number
  seen_at: number
  /** When the condition was last not met; null if it always was. */
  fine_at: number | null
}

/** Merges observations of active runs into the stored ones; a newer attempt starts over. Order does not matter. */
export async function saveObserved(tx: Transaction, observed: readonly Observed[]): Promise<void> {
  if (observed.length === 0) return
  await tx.query({
    name: 'save_observed',
    text: `insert into write.alert_watch as old (run_id, rule, attempt, for_s, since, seen_at, fine_at)
           select o.run_id, o.rule, o.attempt, o.for_s, to_timestamp(o.since / 1000),
                  to_timestamp(o.seen_at / 1000), to_timestamp(o.fine_at / 1000)
             from unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::float8[], $6::float8[], $7::float8[])
                  as o (run_id, rule, attempt, for_s, since, seen_at, fine_at)
             join write.run_state r on r.run_id = o.run_id and r.ended_at is null
            order by o.run_id, o.rule
           on conflict (run_id, rule) do update
              set (attempt, for_s, since, seen_at, fine_at) = (
                select excluded.attempt, excluded.for_s,
                       case when excluded.attempt > old.attempt then excluded.since
                            else least(old.since, excluded.since) end,
                       case when excluded.attempt > old.attempt then excluded.seen_at
                            else greatest(old.seen_at, excluded.seen_at) end,
                       case when excluded.attempt > old.attempt then excluded.fine_at
                            else greatest(old.fine_at, excluded.fine_at) end)
            where excluded.attempt >= old.attempt`,
    values: [
      observed.map(one => one.run_id),
      observed.map(one => one.rule),
      observed.map(one => one.attempt),
      observed.map(one => one.for_s),
      observed.map(one => one.since),
      observed.map(one => one.seen_at),
      observed.map(one => one.fine_at),
    ],
  })
}

/** Called when the run is purged. */
export async function deleteAlertsOf(tx: Transaction, run_id: string): Promise<void> {
  await tx.query('delete from write.alert_watch where run_id = $1', [run_id])
  await tx.query('delete from write.alert_open where run_id = $1', [run_id])
}
