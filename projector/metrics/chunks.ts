import type { PoolClient } from 'pg'
import { byteaArray, int4Array, int8Array } from '../../platform/postgres/arrays.ts'
import { encodeCells } from '../../platform/series/cells.ts'
import {
  decodeChunk,
  encodeChunk,
  type Series,
  type Summary,
  slice,
  summarize,
} from '../../platform/series/chunk.ts'
import { resolve } from '../../platform/series/merge.ts'
import { decodeNumberedBlock } from '../../platform/series/numbered-block.ts'
import { at } from '../../platform/series/varint.ts'
import { type Place, planRewrites, type Rewrite, rewrite } from './rewrite.ts'
import { intsOf, valueColumns } from './summary-columns.ts'

/** The points of numbered blocks by key, with repeated steps resolved. */
export function pointsByKey(blocks: readonly Buffer[]): Map<number, Series> {
  const parts = new Map<number, Series[]>()
  for (const bytes of blocks) {
    const { keys, counts, points } = decodeNumberedBlock(bytes)
    let from = 0
    for (const [k, keyNo] of keys.entries()) {
      const to = from + (counts[k] ?? 0)
      const stretches = parts.get(keyNo) ?? []
      stretches.push(slice(points, from, to))
      parts.set(keyNo, stretches)
      from = to
    }
  }
  return new Map([...parts].map(([keyNo, stretches]) => [keyNo, resolve(stretches)]))
}

/** The chunks that are replaced when points are added to a run. */
export type ChunkChanges = { runNo: number; replaced: KeyPlace[]; inserted: EncodedChunk[] }

type KeyPlace = { keyNo: number; into: Place }
type EncodedChunk = {
  keyNo: number
  summary: Summary
  bytes: Buffer
  cells: ReturnType<typeof encodeCells>
}

/**
 * Merges points into the chunks of a run, without writing anything: this is the slow part, and the relay waits for
 * every transaction that has already written. The caller must be the only writer of the run's chunks until
 * `writeChunks`.
 */
export async function planChunks(
  tx: PoolClient,
  runNo: number,
  byKey: ReadonlyMap<number, Series>,
): Promise<ChunkChanges> {
  const places = await loadPlaces(tx, runNo, byKey)
  const rewrites = [...byKey].flatMap(([keyNo, points]) =>
    planRewrites(places.get(keyNo) ?? [], points).map(plan => ({ keyNo, ...plan })),
  )
  const replaced = rewrites.filter(isRewrite)
  const stored = await loadChunks(tx, runNo, replaced)
  const inserted = rewrites.flatMap(({ keyNo, into, points }) =>
    rewrite(into && storedOf(stored, keyNo, into), points).map(series => ({
      keyNo,
      summary: summarize(series),
      bytes: encodeChunk(series),
      cells: encodeCells(series),
    })),
  )
  return { runNo, replaced, inserted }
}

/** Carries out `planChunks`. */
export async function writeChunks(tx: PoolClient, changes: ChunkChanges): Promise<void> {
  await deleteChunks(tx, changes)
  await insertChunks(tx, changes)
}

const isRewrite = (plan: Rewrite & { keyNo: number }): plan is KeyPlace & { points: Series } =>
  plan.into !== null

const placeId = (keyNo: number, firstStep: number) => `${keyNo}/${firstStep}`

function storedOf(stored: Map<string, Series>, keyNo: number, place: Place): Series {
  const series = stored.get(placeId(keyNo, place.first_step))
  if (!series) throw new Error('a chunk is gone while its run was locked')
  return series
}

/** For each key the chunks starting with the one before its first new point. */
async function loadPlaces(
  tx: PoolClient,
  runNo: number,
  byKey: ReadonlyMap<number, Series>,
): Promise<Map<number, Place[]>> {
  const { rows } = await tx.query<Place & { key_no: number }>({
    name: 'metric_chunk_places',
    text: `select c.key_no, c.first_step, c.last_step, c.count
             from unnest($2::int4[], $3::int8[]) g (key_no, first_step)
             join metric_chunk c on c.run_no = $1 and c.key_no = g.key_no
              and c.first_step >= coalesce((select max(b.first_step) from metric_chunk b
                                             where b.run_no = $1 and b.key_no = g.key_no
                                               and b.first_step <= g.first_step), g.first_step)
            order by c.key_no, c.first_step`,
    values: [
      runNo,
      int4Array([...byKey.keys()]),
      int8Array([...byKey.values()].map(points => at(points.steps, 0))),
    ],
  })
  const places = new Map<number, Place[]>()
  for (const row of rows) {
    const list = places.get(row.key_no) ?? []
    list.push(row)
    places.set(row.key_no, list)
  }
  return places
}

const placesOf = (runNo: number, places: readonly KeyPlace[]) => [
  runNo,
  int4Array(places.map(({ keyNo }) => keyNo)),
  int8Array(places.map(({ into }) => into.first_step)),
]

async function loadChunks(
  tx: PoolClient,
  runNo: number,
  places: readonly KeyPlace[],
): Promise<Map<string, Series>> {
  if (places.length === 0) return new Map()
  const { rows } = await tx.query<{ key_no: number; first_step: number; d: Buffer }>({
    name: 'load_metric_chunks',
    text: `select c.key_no, c.first_step, c.d
             from unnest($2::int4[], $3::int8[]) g (key_no, first_step)
             join metric_chunk c on c.run_no = $1 and c.key_no = g.key_no and c.first_step = g.first_step`,
    values: placesOf(runNo, places),
  })
  return new Map(rows.map(row => [placeId(row.key_no, row.first_step), decodeChunk(row.d)]))
}

async function deleteChunks(tx: PoolClient, { runNo, replaced }: ChunkChanges): Promise<void> {
  if (replaced.length === 0) return
  await tx.query({
    name: 'delete_metric_chunks',
    text: `delete from metric_chunk c using unnest($2::int4[], $3::int8[]) g (key_no, first_step)
            where c.run_no = $1 and c.key_no = g.key_no and c.first_step = g.first_step`,
    values: placesOf(runNo, replaced),
  })
}

/** Stands for null, which an array of parameters cannot hold. */
const none = Buffer.alloc(0)

async function insertChunks(tx: PoolClient, { runNo, inserted }: ChunkChanges): Promise<void> {
  const summaries = inserted.map(({ summary }) => summary)
  const ints = intsOf(summaries)
  await tx.query({
    name: 'insert_metric_chunks',
    text: `insert into metric_chunk (run_no, key_no, first_step, last_step, first_ts, max_ts, last_ts,
                                     first_arrival, last_arrival, count, nonfinite, min, max, sum, last, d,
                                     cells, cell_extremes)
           select $1, key_no, first_step, last_step, first_ts, max_ts, last_ts, first_arrival, last_arrival,
                  count, nonfinite, nullif(min, 'NaN'), nullif(max, 'NaN'), sum, last, d,
                  nullif(cells, ''), nullif(cell_extremes, '')
             from unnest($2::int4[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[],
                         $9::int8[], $10::int8[], $11::int8[], $12::float8[], $13::float8[], $14::float8[],
                         $15::float8[], $16::bytea[], $17::bytea[], $18::bytea[])
                  c (key_no, first_step, last_step, first_ts, max_ts, last_ts, first_arrival, last_arrival,
                     count, nonfinite, min, max, sum, last, d, cells, cell_extremes)`,
    values: [
      runNo,
      int4Array(inserted.map(({ keyNo }) => keyNo)),
      ints(s => s.first_step),
      ints(s => s.last_step),
      ints(s => s.first_ts),
      ints(s => s.max_ts),
      ints(s => s.last_ts),
      ints(s => s.first_arrival),
      ints(s => s.last_arrival),
      ...valueColumns(summaries),
      byteaArray(inserted.map(({ bytes }) => bytes)),
      byteaArray(inserted.map(({ cells }) => cells?.cells ?? none)),
      byteaArray(inserted.map(({ cells }) => cells?.extremes ?? none)),
    ],
  })
}
