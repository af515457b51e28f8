import { type Kysely, sql } from 'kysely'
import { gbHoursText, moneyText, toSeconds } from '../../events/calculations/billing.ts'
import type { SummaryRow, summaryGroups } from '../../schemas/billing.ts'
import { currency } from '../../schemas/profiles.ts'
import { type BilledTables, billedLines } from '../rules/billed.ts'
import { readOpenLines } from '../rules/ledger.ts'
import { type Asked, isAsked } from './entries.ts'

type Group = (typeof summaryGroups)[number]

/** Nothing has a person's token: everything is in one group without a name. Stored data and purged runs have no team. */
const columns = {
  user: sql`owner`,
  team: sql`team`,
  project: sql`project`,
  run: sql`run_id`,
  token: sql`null::text`,
  day: sql`day`,
  kind: sql`kind`,
} as const

type Row = {
  group: string | null
  gpu_ms: string
  byte_ms: string
  cost_micro: string
  entries: number
}

/** Most expensive first; days newest first. */
export async function readSummary(
  db: Kysely<BilledTables>,
  {
    group,
    now,
    limit,
    offset,
    ...asked
  }: Asked & {
    group: Group
    now: Date
    limit: number
    offset: number
  },
): Promise<{ rows: SummaryRow[]; counted: number }> {
  const open = await readOpenLines(db, 'all', now)
  const groups = sql`
    select ${columns[group]} as "group", sum(gpu_ms)::text as gpu_ms, sum(byte_ms)::text as byte_ms,
           sum(cost_micro)::text as cost_micro, sum(cost_micro) as cost, count(*)::integer as entries
      from (${billedLines(open)}) line where ${isAsked(asked)} group by 1`
  const order = group === 'day' ? sql`1 desc` : sql`cost desc, 1`
  const { rows } =
    await sql<Row>`${groups} order by ${order} limit ${limit} offset ${offset}`.execute(db)
  const { rows: all } = await sql<{ count: number }>`
    select count(*) as count from (${groups}) as found`.execute(db)
  return { rows: rows.map(toRow), counted: all[0]?.count ?? 0 }
}

const toRow = ({ group, gpu_ms, byte_ms, cost_micro, entries }: Row): SummaryRow => ({
  group,
  gpu_seconds: toSeconds(BigInt(gpu_ms)),
  gb_hours: gbHoursText(BigInt(byte_ms)),
  cost: moneyText(BigInt(cost_micro)),
  currency,
  entries,
})
