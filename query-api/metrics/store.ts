import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Axis } from '../../platform/series/buckets.ts'
import {
  chunkPoints,
  decodeChunk,
  emptySeries,
  type Series,
  type Summary,
  slice,
} from '../../platform/series/chunk.ts'
import { resolve } from '../../platform/series/merge.ts'
import { decodeNumberedBlock } from '../../platform/series/numbered-block.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'

export type Db = Kysely<MetricTables>

/** For reads that must see one state: the compactor moves points between tables at any time. */
export async function inSnapshot<T>(
  db: Db,
  read: (tx: Db, generation: number) => Promise<T>,
): Promise<T> {
  for (;;) {
    const found = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async tx => {
        const before = await generationOf(tx)
        return inGeneration(tx, before, () => read(tx, before))
      })
    if (found !== null) return found.result
  }
}

/**
 * Null if a rebuild has swapped the tables since `before` was read: run and key numbers differ there, and a snapshot
 * lacks the new rows.
 */
export async function inGeneration<T>(
  db: Db,
  before: number,
  read: () => Promise<T>,
): Promise<{ result: T } | null> {
  try {
    const result = await read()
    return (await generationOf(db)) === before ? { result } : null
  } catch (error) {
    // If the error has aborted the transaction, this fails as well.
    const now = await generationOf(db).catch(() => before)
    if (now === before) throw error
    return null
  }
}

/** The tables that the names refer to: PostgreSQL resolves names for each statement, regardless of the snapshot. */
export const generation = sql<number>`'generation'::regclass::oid::bigint`

async function generationOf(db: Db): Promise<number> {
  const { rows } = await sql<{ tables: number }>`select ${generation} as tables`.execute(db)
  return rows[0]?.tables ?? 0
}

/** The number of a run and its count of applied records; null if it has no points yet. */
export async function findMetricRun(
  db: Db,
  runId: string,
): Promise<{ run_no: number; records: number } | null> {
  const row = await db
    .selectFrom('metric_run')
    .select(['run_no', 'records'])
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return row ?? null
}

/** The number of a run; null if it has no points yet. */
export const findRunNo = async (db: Db, runId: string): Promise<number | null> =>
  (await findMetricRun(db, runId))?.run_no ?? null

/** The numbers of these keys; keys never reported by any run are missing. */
export async function findKeyNos(db: Db, keys: readonly string[]): Promise<Map<string, number>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .selectFrom('metric_name')
    .select(['key', 'key_no'])
    .where('key', 'in', keys)
    .execute()
  return new Map(rows.map(row => [row.key, row.key_no]))
}

/** The uncompacted points of these keys of a run, with repeated steps resolved. */
export async function loadWaiting(
  db: Db,
  runNo: number,
  keyNos: ReadonlySet<number>,
): Promise<Map<number, Series>> {
  const rows = await db
    .selectFrom('metric_block')
    .select('d')
    .where('run_no', '=', runNo)
    .orderBy('first_record')
    .execute()
  const parts = new Map<number, Series[]>()
  for (const { d } of rows)
    for (const [keyNo, stretch] of stretchesOf(d)) {
      if (!keyNos.has(keyNo)) continue
      const stretches = parts.get(keyNo) ?? []
      stretches.push(stretch)
      parts.set(keyNo, stretches)
    }
  return new Map([...parts].map(([keyNo, stretches]) => [keyNo, resolve(stretches)]))
}

/** The points of a numbered block, key by key, in log order. */
export function* stretchesOf(bytes: Buffer): Generator<[keyNo: number, stretch: Series]> {
  const { keys, counts, points } = decodeNumberedBlock(bytes)
  let from = 0
  for (const [k, keyNo] of keys.entries()) {
    const to = from + (counts[k] ?? 0)
    yield [keyNo, slice(points, from, to)]
    from = to
  }
}

/** Inclusive bounds along an axis. */
export type Range = { axis: Axis; from: number; to: number }

export type Header = Summary & { key_no: number }

const headerColumns = [
  'key_no',
  'first_step',
  'last_step',
  'count',
  'nonfinite',
  'min',
  'max',
  'sum',
  'last',
  'last_ts',
  'first_ts',
  'max_ts',
  'first_arrival',
  'last_arrival',
] as const

/** Headers of the chunks that overlap a range, ordered by step. */
export async function loadHeaders(
  db: Db,
  runNo: number,
  keyNos: readonly number[],
  range: Range,
): Promise<Map<number, Header[]>> {
  const headers = new Map<number, Header[]>(keyNos.map(keyNo => [keyNo, []]))
  if (keyNos.length === 0) return headers
  const rows = await db
    .selectFrom('metric_chunk')
    .select(headerColumns)
    .where('run_no', '=', runNo)
    .where('key_no', 'in', keyNos)
    .where(reachesInto(range))
    .orderBy('key_no')
    .orderBy('first_step')
    .execute()
  for (const row of rows) headers.get(row.key_no)?.push(row)
  return headers
}

const reachesInto = ({ axis, from, to }: Range) => {
  const [first, last] = axis === 'step' ? ['first_step', 'last_step'] : ['first_ts', 'max_ts']
  // A range may have infinite bounds, which bigint lacks: compare as doubles, exact for safe integers.
  return sql<SqlBool>`${sql.ref(last ?? '')} >= ${from}::float8 and ${sql.ref(first ?? '')} <= ${to}::float8`
}

/** The points of these chunks of one key. */
export async function loadChunks(
  db: Db,
  runNo: number,
  keyNo: number,
  headers: readonly Header[],
): Promise<Series[]> {
  return (await loadBytes(db, runNo, keyNo, headers)).map(bytes => decodeChunk(bytes))
}

// Shared by all calls: a chunk is decoded and used without an await in between.
const scratch = emptySeries(2 * chunkPoints)

/** Like `loadChunks`, but visits the chunks one by one in a reused buffer. */
export async function eachChunk(
  db: Db,
  runNo: number,
  keyNo: number,
  { headers, visit }: { headers: readonly Header[]; visit: (series: Series) => void },
): Promise<void> {
  for (const bytes of await loadBytes(db, runNo, keyNo, headers)) visit(decodeChunk(bytes, scratch))
}

async function loadBytes(
  db: Db,
  runNo: number,
  keyNo: number,
  headers: readonly Header[],
): Promise<Buffer[]> {
  if (headers.length === 0) return []
  const rows = await db
    .selectFrom('metric_chunk')
    .select('d')
    .where('run_no', '=', runNo)
    .where('key_no', '=', keyNo)
    .where(sql<SqlBool>`first_step = any(${headers.map(header => header.first_step)}::int8[])`)
    .orderBy('first_step')
    .execute()
  if (rows.length !== headers.length) throw new Error('a chunk is gone within a snapshot')
  return rows.map(row => row.d)
}
