import { type SqlBool, sql } from 'kysely'
import { decodeChunk, indexOfStep, type Series, slice } from '../../platform/series/chunk.ts'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import { resolve } from '../../platform/series/merge.ts'
import { at } from '../../platform/series/varint.ts'
import { readKeys } from './read.ts'
import { type Db, findKeyNos, findRunNo, loadWaiting } from './store.ts'

export type ExportFormat = 'csv' | 'jsonl'

/** Chunks of one key in memory at a time. */
const chunksAtOnce = 4

/**
 * Every point of a run as pieces of text, ordered by key name, then by step; `keys` null means all. No lock or
 * transaction is held, however slow the reader. Uncompacted points are read first and kept in memory, chunks
 * are read when they are reached. Since points only move from uncompacted to chunks, none is missed; each step
 * is written once.
 */
export async function* exportPoints(
  db: Db,
  runId: string,
  { format, keys }: { format: ExportFormat; keys: readonly string[] | null },
): AsyncGenerator<string> {
  const write = format === 'csv' ? writeCsv : writeJsonl
  if (format === 'csv') yield 'key,step,value,ts\n'
  const runNo = await findRunNo(db, runId)
  if (runNo === null) return
  const known = (await readKeys(db, runId)).map(row => row.key)
  const wanted = keys === null ? known : known.filter(key => keys.includes(key))
  const numbers = await findKeyNos(db, wanted)
  const waiting = await loadWaiting(db, runNo, new Set(numbers.values()))
  for (const [key, keyNo] of [...numbers].sort(([a], [b]) => (a < b ? -1 : 1)))
    for await (const series of pagesOf(db, runNo, keyNo, waiting.get(keyNo)))
      yield write(key, series)
}

/** The points of a key by step, a few chunks at a time. */
async function* pagesOf(
  db: Db,
  runNo: number,
  keyNo: number,
  waiting: Series | undefined,
): AsyncGenerator<Series> {
  let rest = waiting ?? resolve([])
  let after = Number.NEGATIVE_INFINITY
  for (;;) {
    const chunks = await db
      .selectFrom('metric_chunk')
      .select(['last_step', 'd'])
      .where('run_no', '=', runNo)
      .where('key_no', '=', keyNo)
      // `after` starts at -Infinity, which bigint lacks: compare as doubles, exact for safe integers.
      .where(sql<SqlBool>`last_step > ${after}::float8`)
      .orderBy('first_step')
      .limit(chunksAtOnce)
      .execute()
    const isLast = chunks.length < chunksAtOnce
    const end = isLast ? Number.POSITIVE_INFINITY : (chunks.at(-1)?.last_step ?? 0)
    const split = isLast ? rest.steps.length : indexOfStep(rest.steps, end + 1)
    const page = resolve([...chunks.map(row => decodeChunk(row.d)), slice(rest, 0, split)])
    const from = page.steps.findIndex(step => step > after)
    if (from >= 0) yield slice(page, from, page.steps.length)
    if (isLast) return
    rest = slice(rest, split, rest.steps.length)
    after = end
  }
}

function writeCsv(key: string, { steps, values, ts }: Series): string {
  const quoted = /[",\n\r]/.test(key) ? `"${key.replaceAll('"', '""')}"` : key
  let text = ''
  for (let i = 0; i < steps.length; i++)
    text += `${quoted},${at(steps, i)},${at(values, i)},${at(ts, i)}\n`
  return text
}

function writeJsonl(key: string, { steps, values, ts }: Series): string {
  const name = JSON.stringify(key)
  let text = ''
  for (let i = 0; i < steps.length; i++) {
    const value = JSON.stringify(toJsonNumber(at(values, i)))
    text += `{"key":${name},"step":${at(steps, i)},"value":${value},"ts":${at(ts, i)}}\n`
  }
  return text
}
