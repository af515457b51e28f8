import type { Pool } from 'pg'
import type { QueueSwitches } from '../../events/calculations/queue-picture.ts'
import { toTimestampOrNull } from '../../schemas/timestamp.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Why nothing starts on an engine, or null. A pause of the queue takes precedence. */
export type WhyClosed = 'queue_paused' | 'draining' | null

/** Current pauses and drains, and all engines. */
export async function readSwitches(pool: Pool): Promise<QueueSwitches> {
  const [{ rows: switches }, { rows: engines }] = await Promise.all([
    pool.query({
      name: 'queue_switch',
      text: 'select paused, reason, changed_at, changed_by from write.queue_switch',
    }),
    pool.query({ name: 'engines', text: selectEngines }),
  ])
  const [{ paused = false, reason = null, changed_at = null, changed_by = null } = {}] = switches
  return {
    paused,
    reason: paused ? reason : null,
    changed_at: toTimestampOrNull(changed_at),
    changed_by,
    engines: engines.map(row => ({ ...row, since: toTimestampOrNull(row.since) })),
  }
}

/** Only machines that are present are listed. */
const selectEngines = `
  select e.engine, d.engine is not null as draining, d.reason, d.since, d.drained_by as by,
         (select count(*)::int from write.job_state j
           where j.is_active and (j.executor = e.engine or j.engine = e.engine)) as running_jobs
    from (select executor as engine from write.profile
          union select engine from write.engine where seen_at > now() - interval '10 minutes'
          union select engine from write.drain) e
    left join write.drain d using (engine) order by e.engine`

/** Read in the transaction of a start; a later pause or drain waits for it. */
export async function whyClosed(
  tx: Pick<Transaction, 'query'>,
  engines: { executor: string; engine: string },
  lock: 'for share' | '' = '',
): Promise<WhyClosed> {
  const { rows } = await tx.query({
    name: `why_closed ${lock}`,
    text: `select case when paused then 'queue_paused'
                       when exists (select from write.drain where engine in ($1, $2)) then 'draining' end as why
             from write.queue_switch ${lock}`,
    values: [engines.executor, engines.engine],
  })
  return rows[0]?.why ?? null
}
