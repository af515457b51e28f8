import {
  at,
  CorruptSeries,
  maxSigned,
  maxVarintBytes,
  type Reader,
  readSigned,
  reserve,
  skip,
  type Writer,
  writeSigned,
} from './varint.ts'

/**
 * The layout of a column of integers, its first byte. Numbers are never reused (5 is taken by `restAsBefore` in
 * columns.ts).
 */
const layout = { stride: 0, deltas: 1, deltasOfDeltas: 2, doubles: 3, asBefore: 4 } as const

/** Differences above this cannot be summed and zig-zagged exactly in doubles. */
const maxDelta = 2 ** 51 - 1

/**
 * Writes `count` safe integers of `values` from index `from` on. `before` is the index in `values` of the column of
 * the same length that was written just before, or -1; if both are equal, one byte is enough.
 */
export function writeInts(
  writer: Writer,
  values: Float64Array,
  { from, count, before }: { from: number; count: number; before: number },
): void {
  reserve(writer, 1 + (count + 1) * maxVarintBytes)
  if (before >= 0 && isEqual(values, before, from, count)) {
    writer.bytes[writer.at++] = layout.asBefore
    return
  }
  const kind = chooseLayout(values, from, count)
  writer.bytes[writer.at++] = kind
  if (kind === layout.doubles) writeDoubles(writer, values, from, count)
  else if (count > 0) writeChain(writer, values, { from, count, kind })
}

function writeChain(
  writer: Writer,
  values: Float64Array,
  { from, count, kind }: { from: number; count: number; kind: number },
): void {
  writeSigned(writer, at(values, from))
  if (count === 1) return
  if (kind === layout.stride) writeSigned(writer, at(values, from + 1) - at(values, from))
  else if (kind === layout.deltas) writeDeltas(writer, values, from, count)
  else writeDeltasOfDeltas(writer, values, from, count)
}

/** Whether `count` values from `a` on equal those from `b` on. */
export function isEqual(values: Float64Array, a: number, b: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (values[a + i] !== values[b + i]) return false
  return true
}

function chooseLayout(values: Float64Array, from: number, count: number): number {
  if (count === 0) return layout.stride
  if (Math.abs(at(values, from)) > maxSigned) return layout.doubles
  if (count === 1) return layout.stride
  const stride = at(values, from + 1) - at(values, from)
  if (Math.abs(stride) > maxDelta) return layout.doubles
  let i = 2
  while (i < count && at(values, from + i) - at(values, from + i - 1) === stride) i++
  return i === count ? layout.stride : compareDifferences(values, from, count)
}

/** The shorter layout, deltas or deltas of deltas, by the share that fits into one byte. */
function compareDifferences(values: Float64Array, from: number, count: number): number {
  let shortDeltas = 0
  let shortSeconds = 0
  let previous = at(values, from + 1) - at(values, from)
  for (let i = from + 2; i < from + count; i++) {
    const delta = at(values, i) - at(values, i - 1)
    if (Math.abs(delta) > maxDelta) return layout.doubles
    if (delta < 64 && delta >= -64) shortDeltas++
    const second = delta - previous
    if (second < 64 && second >= -64) shortSeconds++
    previous = delta
  }
  return shortDeltas >= shortSeconds ? layout.deltas : layout.deltasOfDeltas
}

function writeDoubles(writer: Writer, values: Float64Array, from: number, count: number): void {
  for (let i = 0; i < count; i++) {
    writer.view.setFloat64(writer.at, at(values, from + i), true)
    writer.at += 8
  }
}

function writeDeltas(writer: Writer, values: Float64Array, from: number, count: number): void {
  for (let i = from + 1; i < from + count; i++)
    writeSigned(writer, at(values, i) - at(values, i - 1))
}

function writeDeltasOfDeltas(
  writer: Writer,
  values: Float64Array,
  from: number,
  count: number,
): void {
  let previous = 0
  for (let i = from + 1; i < from + count; i++) {
    const delta = at(values, i) - at(values, i - 1)
    writeSigned(writer, delta - previous)
    previous = delta
  }
}

/** Reads the output of `writeInts` into `values` at `from`; `before` must be the same as for writing. */
export function readInts(
  reader: Reader,
  values: Float64Array,
  { from, count, before }: { from: number; count: number; before: number },
): void {
  skip(reader, 1)
  const kind = at(reader.bytes, reader.at - 1)
  if (kind === layout.asBefore) {
    if (before < 0) throw new CorruptSeries('a column refers to none')
    values.copyWithin(from, before, before + count)
  } else if (kind === layout.doubles) {
    const start = reader.at
    skip(reader, count * 8)
    for (let i = 0; i < count; i++) values[from + i] = reader.view.getFloat64(start + i * 8, true)
  } else if (kind === layout.stride) readStride(reader, values, from, count)
  else if (kind === layout.deltas) readChain(reader, values, { from, count, seconds: false })
  else if (kind === layout.deltasOfDeltas) readChain(reader, values, { from, count, seconds: true })
  else throw new CorruptSeries(`unknown column layout ${kind}`)
}

function readStride(reader: Reader, values: Float64Array, from: number, count: number): void {
  if (count === 0) return
  let value = readSigned(reader)
  values[from] = value
  if (count === 1) return
  const stride = readSigned(reader)
  for (let i = from + 1; i < from + count; i++) {
    value += stride
    values[i] = value
  }
}

/** A first byte of at least this means that others follow. */
const longNumber = 128

/** Deltas, or with `seconds` the deltas of deltas. */
function readChain(
  reader: Reader,
  values: Float64Array,
  { from, count, seconds }: { from: number; count: number; seconds: boolean },
): void {
  let value = readSigned(reader)
  let delta = 0
  values[from] = value
  for (let i = from + 1; i < from + count; i++) {
    // Nearly all take one byte; reading it here costs a third of a call.
    const byte = reader.at < reader.end ? at(reader.bytes, reader.at) : longNumber
    let read: number
    if (byte < longNumber) {
      read = (byte >>> 1) ^ -(byte & 1)
      reader.at++
    } else read = readSigned(reader)
    delta = seconds ? delta + read : read
    value += delta
    values[i] = value
  }
}
