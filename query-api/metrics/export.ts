import { type SqlBool, sql } from 'kysely'
import { decodeChunk, indexOfStep, type Series, slice } from '../../platform/series/chunk.ts'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import { resolve } from '../../platform/series/merge.ts'
import { at } from '../../platform/series/varint.ts'
import { csvCell, csvLine } from '../../schemas/csv.ts'
import { readKeys } from './read.ts'
import { type Db, findKeyNos, generation, inGeneration, inSnapshot, loadWaiting } from './store.ts'

export type ExportFormat = 'csv' | 'jsonl'

/** Chunks of one key in memory at a time. */
const chunksAtOnce = 4

/**
 * Every point of a run as pieces of text, ordered by key name, then by step; `keys` null means all. No lock or
 * transaction is held, however slow the reader. Uncompacted points are read first and kept in memory, chunks
 * are read when they are reached. Since points only move from uncompacted to chunks, none is missed; each step
 * is written once. After a rebuild in between, it continues in the new tables from the step it has reached.
 */
export async function* exportPoints(
  db: Db,
  runId: string,
  { format, keys }: { format: ExportFormat; keys: readonly string[] | null },
): AsyncGenerator<string> {
  const write = format === 'csv' ? writeCsv : writeJsonl
  if (format === 'csv') yield `${csvLine(['key', 'step', 'value', 'ts'])}\n`
  const known = (await readKeys(db, runId)).map(row => row.key)
  const wanted = (keys === null ? known : known.filter(key => keys.includes(key))).sort()
  if (wanted.length === 0) return
  const source = openSource(db, runId, wanted)
  for (const key of wanted)
    for await (const series of pagesOf(source, key)) yield write(key, series)
}

/** The points of one key after a step, a few chunks at most; `end` is the last step that they cover. */
export async function readHistory(
  db: Db,
  runId: string,
  key: string,
  after: number,
): Promise<Page> {
  const known = await db
    .selectFrom('metric_run')
    .select('run_no')
    .where('run_id', '=', runId)
    .execute()
  const keys = await findKeyNos(db, [key])
  if (known.length === 0 || keys.size === 0)
    return { series: resolve([]), end: Number.POSITIVE_INFINITY }
  return openSource(db, runId, [key]).page(key, after)
}

type Reading = {
  generation: number
  runNo: number
  keyNos: Map<string, number>
  waiting: Map<number, Series>
}

/** A page of a key's points, and the last step that it covers. */
type Page = { series: Series; end: number }
type Source = { page(key: string, after: number): Promise<Page> }

/** The points of these keys of a run; cached numbers of the run and its keys are read again after a rebuild. */
function openSource(db: Db, runId: string, keys: readonly string[]): Source {
  let reading: Reading | null = null
  return {
    async page(key, after) {
      for (;;) {
        const current = reading ?? (await beginReading(db, runId, keys))
        reading = current
        const read = await inGeneration(db, current.generation, () =>
          readPage(db, current, { key, after }),
        )
        if (read !== null) return read.result
        reading = null
      }
    },
  }
}

const beginReading = (db: Db, runId: string, keys: readonly string[]): Promise<Reading> =>
  inSnapshot(db, async tx => {
    const run = await tx
      .selectFrom('metric_run')
      .select(['run_no', generation.as('generation')])
      .where('run_id', '=', runId)
      .executeTakeFirstOrThrow()
    const keyNos = await findKeyNos(tx, keys)
    const waiting = await loadWaiting(tx, run.run_no, new Set(keyNos.values()))
    return { generation: run.generation, runNo: run.run_no, keyNos, waiting }
  })

/** The points of a key by step, a few chunks at a time. */
async function* pagesOf(source: Source, key: string): AsyncGenerator<Series> {
  for (let after = Number.NEGATIVE_INFINITY; after < Number.POSITIVE_INFINITY; ) {
    const { series, end } = await source.page(key, after)
    if (series.steps.length > 0) yield series
    after = end
  }
}

async function readPage(
  db: Db,
  { runNo, keyNos, waiting }: Reading,
  { key, after }: { key: string; after: number },
): Promise<Page> {
  const keyNo = keyNos.get(key) ?? missing(key)
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
  const uncompacted = between(waiting.get(keyNo) ?? resolve([]), after, end)
  const page = resolve([...chunks.map(row => decodeChunk(row.d)), uncompacted])
  return { series: between(page, after, end), end }
}

/** The points with steps > `after` and <= `end`. */
const between = (series: Series, after: number, end: number): Series =>
  slice(series, indexOfStep(series.steps, after + 1), indexOfStep(series.steps, end + 1))

/** Cuts the connection, so that the client cannot mistake the partial output for a complete one. */
function missing(key: string): never {
  throw new Error(`the key '${key}' is gone`)
}

function writeCsv(key: string, { steps, values, ts }: Series): string {
  const name = csvCell(key)
  let text = ''
  // The other cells are numbers; `csvLine` for each of millions of points would take longer.
  for (let i = 0; i < steps.length; i++)
    text += `${name},${at(steps, i)},${at(values, i)},${at(ts, i)}\n`
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
