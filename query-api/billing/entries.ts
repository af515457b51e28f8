import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { dayMs, decimals, gbHoursText, moneyText } from '../../events/calculations/billing.ts'
import type { EntryFilters, EntryRow } from '../../schemas/billing.ts'
import { currency } from '../../schemas/profiles.ts'
import { maxExactCount } from '../reading/page.ts'
import { type BilledTables, type Days, ledgerEntries, mayBeTold } from '../rules/billed.ts'

export type Asked = EntryFilters & Days & { caller: Person }

/** SQL condition: whether a line of the ledger was requested and the caller may read it. */
export const isAsked = ({ caller, from, to, user, project, kind }: Asked): RawBuilder<SqlBool> => {
  const equal = (column: string, value: string | undefined) =>
    value === undefined ? sql`true` : sql`${sql.ref(column)} = ${value}`
  return sql<SqlBool>`(day between ${from} and ${to} and ${mayBeTold(caller)} and ${equal('owner', user)}
    and ${equal('project', project)} and ${equal('kind', kind)})`
}

type Found = Omit<EntryRow, 'quantity' | 'unit' | 'price_unit' | 'cost' | 'currency'> & {
  starts_at: Date
  ends_at: Date
  gpu_ms: string | null
  byte_ms: string | null
  cost_micro: string
}

export async function readEntries(
  db: Kysely<BilledTables>,
  asked: Asked,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: EntryRow[]; counted: number }> {
  const found = sql`select * from (${ledgerEntries}) entry where ${isAsked(asked)}`
  const { rows } = await sql<Found>`
    ${found} order by starts_at desc, entry_id limit ${limit} offset ${offset}`.execute(db)
  const { rows: all } = await sql<{ count: number }>`
    select count(*) as count from (${found} limit ${maxExactCount + 1}) as counted`.execute(db)
  return { rows: rows.map(toRow), counted: all[0]?.count ?? 0 }
}

/** Rows in memory at a time. */
const atOnce = 1000

/**
 * Every asked entry, oldest first, a day and a page at a time: no transaction is open while the reader is slow, and no page reads
 * the whole month.
 */
export async function* everyEntry(
  db: Kysely<BilledTables>,
  asked: Asked,
): AsyncGenerator<EntryRow[]> {
  for (let day = asked.from; day <= asked.to; day = dayAfter(day))
    yield* entriesOfDay(db, { ...asked, from: day, to: day })
}

const dayAfter = (day: string): string =>
  new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)

async function* entriesOfDay(db: Kysely<BilledTables>, asked: Asked): AsyncGenerator<EntryRow[]> {
  let last: EntryRow | null = null
  do {
    const after: RawBuilder<unknown> =
      last === null
        ? sql`true`
        : sql`(starts_at, entry_id) > (${last.starts_at}::timestamptz, ${last.entry_id})`
    const { rows } = await sql<Found>`
      select * from (${ledgerEntries}) entry where ${isAsked(asked)} and ${after}
       order by starts_at, entry_id limit ${atOnce}`.execute(db)
    const page = rows.map(toRow)
    yield page
    last = page.length === atOnce ? (page.at(-1) ?? null) : null
  } while (last !== null)
}

const toRow = ({ gpu_ms, byte_ms, cost_micro, starts_at, ends_at, ...row }: Found): EntryRow => ({
  ...row,
  starts_at: starts_at.toISOString(),
  ends_at: ends_at.toISOString(),
  ...amountOf(gpu_ms, byte_ms),
  cost: moneyText(BigInt(cost_micro)),
  currency,
})

function amountOf(gpu_ms: string | null, byte_ms: string | null) {
  if (gpu_ms !== null)
    return {
      quantity: decimals(BigInt(gpu_ms), 1000n, 3),
      unit: 'gpu_second' as const,
      price_unit: 'gpu_hour' as const,
    }
  if (byte_ms !== null)
    return {
      quantity: gbHoursText(BigInt(byte_ms)),
      unit: 'gb_hour' as const,
      price_unit: 'gb_month' as const,
    }
  return { quantity: '0', unit: null, price_unit: null }
}
