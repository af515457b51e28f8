import { type Kysely, sql } from 'kysely'
import {
  type Amounts,
  type Line,
  openLinesOf,
  standing,
  sumOf,
  toEntry,
} from '../../events/calculations/billing.ts'
import type { UsageTables } from '../../projector/usage/table.ts'

type Db = Kysely<UsageTables>
export type LineOfRun = Line & { run_id: string; owner: string; project: string }
type Whose = { runIds: readonly string[] } | { owner: string } | 'all'

/**
 * The cost so far of attempts that still hold GPUs; it enters the ledger once they end. Must be read before the
 * ledger: an attempt that ends in between is then in both instead of in neither, and `notIn` drops it here.
 */
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

/** The lines of attempts that are not in the ledger yet. */
const notIn = (ledger: readonly { run_id: string; attempt: number }[], open: LineOfRun[]) => {
  const ended = new Set(ledger.map(({ run_id, attempt }) => `${run_id} ${attempt}`))
  return open.filter(({ run_id, attempt }) => !ended.has(`${run_id} ${attempt}`))
}

const belongsTo = (whose: Whose) => {
  if (whose === 'all') return sql<boolean>`true`
  return 'owner' in whose
    ? sql<boolean>`owner = ${whose.owner}`
    : sql<boolean>`run_id = any(${whose.runIds})`
}

/** The usage and cost of each of these runs up to now. */
export async function readBills(
  db: Db,
  runIds: readonly string[],
  now: Date,
): Promise<(run_id: string) => Amounts> {
  const open = await readOpenLines(db, { runIds }, now)
  const { rows: closed } = await sql<Closed & { attempt: number }>`
    select run_id, attempt, sum(gpu_ms) as gpu_ms, sum(cost_micro) as cost_micro
      from usage_lines where run_id = any(${runIds}) group by run_id, attempt`.execute(db)
  const all = [...closed.map(toAmounts), ...notIn(closed, open)]
  const parts = Map.groupBy(all, part => part.run_id)
  return run_id => sumOf(parts.get(run_id) ?? [])
}

/** The cost of each of these runs since then, in millionths; a line that began earlier counts pro rata. */
export async function readCostsSince(
  db: Db,
  runIds: readonly string[],
  { since, now }: { since: Date; now: Date },
): Promise<Map<string, bigint>> {
  const open = await readOpenLines(db, { runIds }, now)
  const closed = await db
    .selectFrom('usage_lines')
    .select(['run_id', 'attempt', 'starts_at', 'ends_at', 'cost_micro'])
    .where(sql<boolean>`run_id = any(${runIds})`)
    .where(sql<boolean>`ends_at > ${since}`)
    .execute()
  const costs = new Map<string, bigint>()
  for (const { run_id, starts_at, ends_at, cost_micro } of [...closed, ...notIn(closed, open)]) {
    const [from, to] = [new Date(starts_at).getTime(), new Date(ends_at).getTime()]
    const part = to <= from ? 0 : Math.max(0, to - Math.max(from, since.getTime())) / (to - from)
    const cost = BigInt(Math.round(Number(cost_micro) * part))
    costs.set(run_id, (costs.get(run_id) ?? 0n) + cost)
  }
  return costs
}

type Closed = { run_id: string; gpu_ms: string; cost_micro: string }

const toAmounts = <R extends { gpu_ms: string; cost_micro: string }>(row: R) => ({
  ...row,
  gpu_ms: BigInt(row.gpu_ms),
  cost_micro: BigInt(row.cost_micro),
})

/** GPU milliseconds of a person on the UTC day of `now`, by the rule used to check `daily_gpu_hours`. */
export async function readToday(db: Db, owner: string, now: Date): Promise<bigint> {
  const today = now.toISOString().slice(0, 10)
  const open = (await readOpenLines(db, { owner }, now)).filter(({ day }) => day === today)
  const runIds = open.map(({ run_id }) => run_id)
  const { rows } = await sql<{ run_id: string; attempt: number; gpu_ms: string }>`
    select case when run_id = any(${runIds}) then run_id end as run_id,
           case when run_id = any(${runIds}) then attempt end as attempt, sum(gpu_ms) as gpu_ms
      from usage_lines where owner = ${owner} and day = ${today} group by 1, 2`.execute(db)
  const closed = rows.reduce((sum, { gpu_ms }) => sum + BigInt(gpu_ms), 0n)
  return closed + sumOf(notIn(rows, open)).gpu_ms
}

/** The lines of a job's current bill, by time. */
export async function readBill(db: Db, run_id: string, now: Date): Promise<Line[]> {
  const open = await readOpenLines(db, { runIds: [run_id] }, now)
  const entries = await db
    .selectFrom('usage_lines')
    .selectAll()
    .where('run_id', '=', run_id)
    .orderBy('nth')
    .execute()
  return [...standing(entries.map(toEntry)), ...notIn(entries, open)].sort((a, b) =>
    a.starts_at < b.starts_at ? -1 : 1,
  )
}
