import type { Kysely } from 'kysely'
import {
  amend,
  billLinesOf,
  type Entry,
  isOpen,
  type Metered,
  meter,
  toEntry,
  unmetered,
} from '../../events/calculations/billing.ts'
import type { Recorded } from '../../events/event.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { insertRows, type NewRows } from '../new-rows.ts'
import type { Handlers } from '../projection.ts'
import type { UsageTables } from './table.ts'

type Billed = Extract<
  JobEvent,
  { type: 'job.admitted' | 'job.running' | 'job.repriced' | 'job.exited' }
>
type Tx = Kysely<UsageTables>

/** The ledger, derived only from the events of each job. */
export const usageProjection: Handlers<UsageTables, Billed> = {
  'job.admitted': keepAccount,
  'job.running': keepAccount,
  'job.repriced': keepAccount,
  'job.exited': keepAccount,
}

export const newAccounts: NewRows<Billed> = {
  table: 'usage_runs',
  begin(event) {
    if (event.type !== 'job.admitted') return null
    const { run_id, owner, project } = event.data
    const metered = meter(unmetered, event)
    return { run_id, owner, project, metered, is_open: isOpen(metered) }
  },
  fold: () => null,
}

async function keepAccount(tx: Tx, event: Recorded<Billed>): Promise<void> {
  const { run_id, owner, project } = event.data
  const metered = meter(await readMetered(tx, run_id), event)
  const row = { metered: JSON.stringify(metered), is_open: isOpen(metered) }
  await tx
    .insertInto('usage_runs')
    .values({ run_id, owner, project, ...row })
    .onConflict(on => on.column('run_id').doUpdateSet(row))
    .execute()
  const due = billLinesOf(metered)
  // Nothing is due before the first attempt ends.
  if (due.length === 0) return
  const written = await readEntries(tx, run_id)
  const entries = amend(written, due).map(({ gpu_ms, cost_micro, ...entry }, index) => ({
    ...entry,
    run_id,
    nth: written.length + index,
    owner,
    project,
    gpu_ms: String(gpu_ms),
    cost_micro: String(cost_micro),
  }))
  await insertRows(tx, 'usage_lines', entries)
}

async function readMetered(tx: Tx, run_id: string): Promise<Metered> {
  const row = await tx
    .selectFrom('usage_runs')
    .select('metered')
    .where('run_id', '=', run_id)
    .executeTakeFirst()
  return row?.metered ?? unmetered
}

async function readEntries(tx: Tx, run_id: string): Promise<Entry[]> {
  const rows = await tx
    .selectFrom('usage_lines')
    .selectAll()
    .where('run_id', '=', run_id)
    .orderBy('nth')
    .execute()
  return rows.map(toEntry)
}
