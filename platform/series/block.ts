import {
  readCounts,
  readIntGroups,
  readValueGroups,
  writeIntGroups,
  writeList,
  writeValueGroups,
} from './columns.ts'
import { type Grouping, groupByKey } from './grouping.ts'
import { createPoints, makeRoom, type Points } from './points.ts'
import { sealedFormat } from './sealed.ts'
import {
  CorruptSeries,
  createReader,
  maxVarintBytes,
  type Reader,
  readText,
  readVarint,
  reserve,
  skip,
  type Writer,
  writeText,
  writeVarint,
} from './varint.ts'

const zstdLevel = 1
/** Shorter bodies are never compressed: the saving is not worth the call. */
const minCompressedBytes = 4096
/** Maximum bytes after decompression; the largest request of 10,000 points stays far below. */
const maxBodyBytes = 64 * 1024 * 1024
const format = sealedFormat({ version: 1, maxBodyBytes })

export type Point = { key: string; step: number; ts_ms: number; value: number }

// Encoding is synchronous, so that one serves all calls.
const grouped = createPoints()

/**
 * Encodes the points of one request as the value of one log record: `keys[i]` is the key of point i. Among points with
 * the same key and step only the last is kept; `inserted` is how many remain, and the returned `keys` are distinct. Steps and
 * times are safe integers; values are kept exactly, including non-finite ones.
 *
 * Body: number of points, number of keys, bytes of the names, the names; the number of points of each key; then the
 * steps of all keys, the times of all keys, the values of all keys.
 */
export function encodeBlock(
  keys: readonly string[],
  points: Points,
): { bytes: Buffer; inserted: number; keys: readonly string[] } {
  grouped.length = 0
  makeRoom(grouped, keys.length)
  const { keys: names, counts } = groupByKey(keys, points, grouped)
  const bytes = format.encode(to => {
    reserve(to, 3 * maxVarintBytes)
    writeVarint(to, grouped.length)
    writeVarint(to, names.length)
    const nameBytes = writeNames(to, names)
    writeList(to, counts)
    writeIntGroups(to, counts, grouped.steps)
    writeIntGroups(to, counts, grouped.ts)
    writeValueGroups(to, counts, grouped.values)
    return levelFor(to.at, nameBytes)
  })
  return { bytes, inserted: grouped.length, keys: names }
}

/**
 * Values are mostly noise and the other columns are already short; zstd helps mostly with names. So it is used
 * only if names are a large part of a long body.
 */
const levelFor = (bodyBytes: number, nameBytes: number) =>
  bodyBytes >= minCompressedBytes && nameBytes * 4 > bodyBytes ? zstdLevel : null

/** Returns the length of the names in bytes. */
function writeNames(writer: Writer, names: readonly string[]): number {
  const lengthAt = writer.at
  // The length is known only afterwards; reserve four bytes for it.
  writer.at += 4
  for (const name of names) writeText(writer, name)
  const length = writer.at - lengthAt - 4
  writer.view.setUint32(lengthAt, length, true)
  return length
}

/**
 * Appends a block's points to `into`, grouped by key, starting at index `from`. Blocks with the same keys usually
 * return the same array of keys. Throws `CorruptSeries` for anything that `encodeBlock` did not write, and then leaves
 * the length of `into` unchanged.
 */
export function decodeBlock(bytes: Buffer, into: Points): Grouping & { from: number } {
  const reader = format.open(bytes)
  const total = readVarint(reader)
  const keys = readNames(reader, readVarint(reader))
  const counts = readCounts(reader, keys.length, total)
  const from = into.length
  makeRoom(into, total)
  readIntGroups(reader, counts, into.steps, from)
  readIntGroups(reader, counts, into.ts, from)
  readValueGroups(reader, counts, into.values, from)
  into.length = from + total
  return { keys, counts, from }
}

/** Lists of names by their bytes, because runs report the same keys again and again. */
const knownNames = new Map<string, string[]>()
const maxKnownNames = 1024
const maxKnownBytes = 4096

function readNames(reader: Reader, count: number): string[] {
  skip(reader, 4)
  const length = reader.view.getUint32(reader.at - 4, true)
  const start = reader.at
  skip(reader, length)
  const identity =
    length <= maxKnownBytes ? reader.bytes.toString('latin1', start, reader.at) : null
  const known = identity === null ? undefined : knownNames.get(identity)
  if (known?.length === count) return known
  const names = parseNames(createReader(reader.bytes.subarray(start, reader.at)), count)
  if (identity !== null) {
    if (knownNames.size >= maxKnownNames) knownNames.clear()
    knownNames.set(identity, names)
  }
  return names
}

function parseNames(reader: Reader, count: number): string[] {
  const names: string[] = []
  while (reader.at < reader.end) names.push(readText(reader))
  if (names.length !== count) throw new CorruptSeries('the names do not add up')
  return names
}
