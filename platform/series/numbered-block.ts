import { emptySeries, type Series } from './chunk.ts'
import {
  readCounts,
  readIntGroups,
  readList,
  readValueGroups,
  writeIntGroups,
  writeList,
  writeValueGroups,
} from './columns.ts'
import { seal, unseal } from './sealed.ts'
import {
  CorruptSeries,
  createReader,
  createWriter,
  maxVarintBytes,
  readVarint,
  reserve,
  writeVarint,
} from './varint.ts'

const version = 1
const maxBodyBytes = 256 * 1024 * 1024

/**
 * Points of one owner by numbered keys: first `counts[0]` points of `keys[0]`, and so on, each in order of arrival.
 * Of points with the same key and step, the later arrival counts.
 */
export type NumberedBlock = { keys: readonly number[]; counts: readonly number[]; points: Series }

// Encoding is synchronous, so that one writer serves all calls.
const writer = createWriter(256 * 1024)

/**
 * Encodes one stored row: several log blocks joined, names replaced by numbers. Not compressed, because these rows
 * live for minutes.
 */
export function encodeNumberedBlock({ keys, counts, points }: NumberedBlock): Buffer {
  writer.at = 0
  reserve(writer, 2 * maxVarintBytes)
  writeVarint(writer, points.steps.length)
  writeVarint(writer, keys.length)
  writeList(writer, keys)
  writeList(writer, counts)
  writeIntGroups(writer, counts, points.arrivals)
  writeIntGroups(writer, counts, points.steps)
  writeIntGroups(writer, counts, points.ts)
  writeValueGroups(writer, counts, points.values)
  return seal(version, writer.bytes.subarray(0, writer.at), null)
}

/** Throws `CorruptSeries` for anything that `encodeNumberedBlock` did not write. */
export function decodeNumberedBlock(bytes: Buffer): NumberedBlock {
  const reader = createReader(unseal(version, bytes, maxBodyBytes))
  const total = readVarint(reader)
  const keyCount = readVarint(reader)
  if (keyCount > total || total > bytes.length)
    throw new CorruptSeries('it promises more than it holds')
  const keys = readList(reader, keyCount)
  const counts = readCounts(reader, keyCount, total)
  const points = emptySeries(total)
  readIntGroups(reader, counts, points.arrivals, 0)
  readIntGroups(reader, counts, points.steps, 0)
  readIntGroups(reader, counts, points.ts, 0)
  readValueGroups(reader, counts, points.values, 0)
  return { keys, counts, points }
}
