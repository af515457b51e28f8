import { areSingles, readFloats, readValues, writeFloats, writeValues } from './doubles.ts'
import { isEqual, readInts, writeInts } from './ints.ts'
import { at, CorruptSeries, type Reader, reserve, type Writer } from './varint.ts'

// Encoding and decoding are synchronous, so that one column serves all calls.
let scratch = new Float64Array(1024)

/** Writes a short list of integers. */
export function writeList(to: Writer, list: readonly number[]): void {
  if (scratch.length < list.length) scratch = new Float64Array(list.length * 2)
  for (let i = 0; i < list.length; i++) scratch[i] = list[i] ?? 0
  writeInts(to, scratch, { from: 0, count: list.length, before: -1 })
}

export function readList(reader: Reader, length: number): number[] {
  if (scratch.length < length) scratch = new Float64Array(length * 2)
  readInts(reader, scratch, { from: 0, count: length, before: -1 })
  const list: number[] = []
  for (let i = 0; i < length; i++) list.push(at(scratch, i))
  return list
}

/** The lengths of `groups` groups, which must add up to `total`. */
export function readCounts(reader: Reader, groups: number, total: number): number[] {
  // Each point has a value of at least 4 bytes: allocate no memory for points that cannot follow.
  if (total * 4 > reader.end - reader.at || groups > total)
    throw new CorruptSeries('it announces more data than it holds')
  const counts = readList(reader, groups)
  let sum = 0
  for (const count of counts) {
    if (!(count >= 1)) throw new CorruptSeries('a group without points')
    sum += count
  }
  if (sum !== total) throw new CorruptSeries('the groups do not add up')
  return counts
}

/** Replaces a group's layout: this group and all later ones equal the one before. */
const restAsBefore = 5
/** Replaces the first group's layout: all groups are floats of one size, without layouts of their own. */
const allAlike = { doubles: 7, singles: 8 } as const

/** Writes a column of integers group by group, starting at index 0. */
export function writeIntGroups(to: Writer, counts: readonly number[], column: Float64Array): void {
  const end = firstOfRest(counts, column)
  let from = 0
  let previous = -1
  for (let k = 0; k < end; k++) {
    const count = counts[k] ?? 0
    writeInts(to, column, { from, count, before: previous === count ? from - count : -1 })
    from += count
    previous = count
  }
  if (end === counts.length) return
  reserve(to, 1)
  to.bytes[to.at++] = restAsBefore
}

/** The first of the trailing groups that each equal the one before; the end unless there are at least two. */
function firstOfRest(counts: readonly number[], column: Float64Array): number {
  let k = counts.length
  let from = counts.reduce((sum, count) => sum + count, 0)
  const size = counts[k - 1] ?? 0
  while (k > 1 && counts[k - 2] === size && isEqual(column, from - 2 * size, from - size, size)) {
    k--
    from -= size
  }
  return counts.length - k > 1 ? k : counts.length
}

/** Reads the output of `writeIntGroups` into a column, starting at index `start`. */
export function readIntGroups(
  reader: Reader,
  counts: readonly number[],
  column: Float64Array,
  start: number,
): void {
  let from = start
  let previous = -1
  let isRest = false
  for (const count of counts) {
    isRest ||= takes(reader, restAsBefore)
    const before = previous === count ? from - count : -1
    if (!isRest) readInts(reader, column, { from, count, before })
    else if (before >= 0) column.copyWithin(from, before, from)
    else throw new CorruptSeries('a column refers to none')
    from += count
    previous = count
  }
}

/** Consumes the next byte if it is this one; returns whether it was. */
function takes(reader: Reader, byte: number): boolean {
  const isNext = reader.at < reader.end && at(reader.bytes, reader.at) === byte
  if (isNext) reader.at++
  return isNext
}

export function writeValueGroups(
  to: Writer,
  counts: readonly number[],
  column: Float64Array,
): void {
  const singles = commonSize(counts, column)
  if (singles !== null) {
    reserve(to, 1)
    to.bytes[to.at++] = singles ? allAlike.singles : allAlike.doubles
    const count = counts.reduce((sum, count) => sum + count, 0)
    writeFloats(to, column, { from: 0, count, singles })
    return
  }
  let from = 0
  for (const count of counts) {
    writeValues(to, column, from, count)
    from += count
  }
}

/** Whether all groups take 32 bits a value (true) or 64 (false); null if they differ or there is only one. */
function commonSize(counts: readonly number[], column: Float64Array): boolean | null {
  if (counts.length < 2) return null
  const size = areSingles(column, 0, counts[0] ?? 0)
  let from = 0
  for (const count of counts) {
    if (areSingles(column, from, count) !== size) return null
    from += count
  }
  return size
}

export function readValueGroups(
  reader: Reader,
  counts: readonly number[],
  column: Float64Array,
  start: number,
): void {
  const count = counts.reduce((sum, count) => sum + count, 0)
  if (takes(reader, allAlike.singles))
    readFloats(reader, column, { from: start, count, singles: true })
  else if (takes(reader, allAlike.doubles))
    readFloats(reader, column, { from: start, count, singles: false })
  else readEachValues(reader, counts, column, start)
  if (reader.at !== reader.end) throw new CorruptSeries('bytes are left over')
}

function readEachValues(
  reader: Reader,
  counts: readonly number[],
  column: Float64Array,
  start: number,
): void {
  let from = start
  for (const count of counts) {
    readValues(reader, column, from, count)
    from += count
  }
}
