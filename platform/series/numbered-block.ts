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
import { sealedFormat } from './sealed.ts'
import { CorruptSeries, maxVarintBytes, readVarint, reserve, writeVarint } from './varint.ts'

const format = sealedFormat({ version: 1, maxBodyBytes: 256 * 1024 * 1024 })

/**
 * Points of one owner by numbered keys: first `counts[0]` points of `keys[0]`, and so on, each in order of arrival.
 * Among points with the same key and step, the later arrival counts.
 */
export type NumberedBlock = { keys: readonly number[]; counts: readonly number[]; points: Series }

/**
 * Encodes one stored row: several log blocks joined, names replaced by numbers. Not compressed, because these rows
 * live for minutes.
 */
export function encodeNumberedBlock({ keys, counts, points }: NumberedBlock): Buffer {
  return format.encode(to => {
    reserve(to, 2 * maxVarintBytes)
    writeVarint(to, points.steps.length)
    writeVarint(to, keys.length)
    writeList(to, keys)
    writeList(to, counts)
    writeIntGroups(to, counts, points.arrivals)
    writeIntGroups(to, counts, points.steps)
    writeIntGroups(to, counts, points.ts)
    writeValueGroups(to, counts, points.values)
    return null
  })
}

/** Throws `CorruptSeries` for anything that `encodeNumberedBlock` did not write. */
export function decodeNumberedBlock(bytes: Buffer): NumberedBlock {
  const reader = format.open(bytes)
  const total = readVarint(reader)
  const keyCount = readVarint(reader)
  if (keyCount > total || total > bytes.length)
    throw new CorruptSeries('it announces more data than it holds')
  const keys = readList(reader, keyCount)
  const counts = readCounts(reader, keyCount, total)
  const points = emptySeries(total)
  readIntGroups(reader, counts, points.arrivals, 0)
  readIntGroups(reader, counts, points.steps, 0)
  readIntGroups(reader, counts, points.ts, 0)
  readValueGroups(reader, counts, points.values, 0)
  return { keys, counts, points }
}
