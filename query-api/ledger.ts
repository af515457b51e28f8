import { type Kysely, sql } from 'kysely'
import {
  type Amounts,
  type Line,
  openLinesOf,
  standing,
  sumOf,
  toEntry,
} from '../events/billing.ts'
import type { UsageTables } from '../projector/usage/table.ts'

type Db = Kysely<UsageTables>
export type LineOfRun = Line & { run_id: string; owner: string; project: string }
type Whose = { runIds: readonly string[] } | { owner: string } | 'all'

/** What attempts that still hold GPUs owe until now; the ledger has it once they end. */
export async function readOpenLines(db: Db, whose: Whose, now: Date): Promise<LineOfRun[]> {
  const open = db
    .selectFrom('usage_runs')
    .select(['run_id', 'owner', 'project', 'metered'])
    .where('is_open', '=', true)
    .where(belongsTo(whose))
  return (await open.execute()).flatMap(({ metered, ...run }) =>
    openLinesOf(metered, now).map(line => ({ ...line, ...run })),
  )
}

const belongsTo = (whose: Whose) => {
  if (whose === 'all') return sql<boolean>`true`
  return 'owner' in whose
    ? sql<boolean>`owner = ${whose.owner}`
    : sql<boolean>`run_id = any(${whose.runIds})`
}

/** What each of these runs has used and owes until now. */
export async function readBills(
  db: Db,
  runIds: readonly string[],
  now: Date,
): Promise<(run_id: string) => Amounts> {
  const [{ rows: closed }, open] = await Promise.all([
    sql<{ run_id: string; gpu_ms: string; cost_micro: string }>`
      select run_id, sum(gpu_ms) as gpu_ms, sum(cost_micro) as cost_micro
        from usage_lines where run_id = any(${runIds}) group by run_id`.execute(db),
    readOpenLines(db, { runIds }, now),
  ])
  const parts = Map.groupBy([...closed.map(toAmounts), ...open], part => part.run_id)
  return run_id => sumOf(parts.get(run_id) ?? [])
}

const toAmounts = <R extends { gpu_ms: string; cost_micro: string }>(row: R) => ({
  ...row,
  gpu_ms: BigInt(row.gpu_ms),
  cost_micro: BigInt(row.cost_micro),
})

/** GPU milliseconds of a person on the UTC day of `now`, by the rule that `daily_gpu_hours` is checked with. */
export async function readToday(db: Db, owner: string, now: Date): Promise<bigint> {
  const today = now.toISOString().slice(0, 10)
  const [{ rows }, open] = await Promise.all([
    sql<{ gpu_ms: string }>`
      select coalesce(sum(gpu_ms), 0) as gpu_ms from usage_lines
       where owner = ${owner} and day = ${today}`.execute(db),
    readOpenLines(db, { owner }, now),
  ])
  const sum = sumOf(open.filter(({ day }) => day === today))
  return BigInt(rows[0]?.gpu_ms ?? 0) + sum.gpu_ms
}

/** The lines of a job's bill as it stands, by time. */
export async function readBill(db: Db, run_id: string, now: Date): Promise<Line[]> {
  const entries = await db
    .selectFrom('usage_lines')
    .selectAll()
    .where('run_id', '=', run_id)
    .orderBy('nth')
    .execute()
  const open = await readOpenLines(db, { runIds: [run_id] }, now)
  return [...standing(entries.map(toEntry)), ...open].sort((a, b) =>
    a.starts_at < b.starts_at ? -1 : 1,
  )
}
