import { endianness } from 'node:os'
import { readInts, writeInts } from './ints.ts'
import { at, CorruptSeries, type Reader, reserve, skip, type Writer } from './varint.ts'

// Columns are copied between memory and bytes unchanged. Every platform of Node 24 except s390x is little-endian, and
// s390x must not write bytes that the others cannot read.
if (endianness() !== 'LE') throw new Error('series are stored little-endian; this machine is not')

/**
 * The layout of a column of values, its first byte. Numbers are never reused (7 and 8 are taken by `allAlike` in
 * columns.ts).
 */
const layout = {
  doubles: 0,
  singles: 1,
  constant: 2,
  integers: 3,
  planes8: 4,
  planes4: 5,
  decimals: 6,
} as const

/**
 * Writes `count` values from index `from` on, exactly (any NaN is read back as NaN). If 32-bit floats hold all of
 * them exactly, like those of most training code, each takes 4 bytes.
 */
export function writeValues(
  writer: Writer,
  values: Float64Array,
  from: number,
  count: number,
): void {
  const fitsSingles = areSingles(values, from, count)
  reserve(writer, 1)
  writer.bytes[writer.at++] = fitsSingles ? layout.singles : layout.doubles
  writeFloats(writer, values, { from, count, singles: fitsSingles })
}

export type Floats = { from: number; count: number; singles: boolean }

/** Writes values as floats of 32 bits (`singles`) or 64, without a layout byte. */
export function writeFloats(
  writer: Writer,
  values: Float64Array,
  { from, count, singles }: Floats,
): void {
  reserve(writer, count * 8)
  if (singles) writeSingles(writer, values, from, count)
  else writeDoubles(writer, values, from, count)
}

export function readFloats(
  reader: Reader,
  values: Float64Array,
  { from, count, singles }: Floats,
): void {
  const target = values.subarray(from, from + count)
  if (singles) readSingles(reader, target)
  else readDoubles(reader, target)
}

/**
 * Like `writeValues`, but laid out for a general compressor: equal values once, whole numbers and short decimals as
 * differences, all others byte plane by byte plane, so that the similar signs and exponents of neighbours are adjacent
 * and not separated by the noise of the mantissas.
 */
export function writeValuesDense(
  writer: Writer,
  values: Float64Array,
  from: number,
  count: number,
): void {
  reserve(writer, 10 + count * 8)
  const places = decimalPlacesOf(values, from, count)
  if (isConstant(values, from, count)) {
    writer.bytes[writer.at++] = layout.constant
    writeDoubles(writer, values, from, 1)
  } else if (places === 0) {
    writer.bytes[writer.at++] = layout.integers
    writeInts(writer, values, { from, count, before: -1 })
  } else if (areSingles(values, from, count)) {
    writer.bytes[writer.at++] = layout.planes4
    writePlanes(writer, bytesOf(Float32Array.from(values.subarray(from, from + count))), 4)
  } else if (places !== null) {
    writer.bytes[writer.at++] = layout.decimals
    writer.bytes[writer.at++] = places
    const scaled = values.slice(from, from + count).map(value => scale(value, places))
    writeInts(writer, scaled, { from: 0, count, before: -1 })
  } else {
    writer.bytes[writer.at++] = layout.planes8
    writePlanes(writer, bytesOf(values.subarray(from, from + count)), 8)
  }
}

const bytesOf = (column: Float32Array | Float64Array) =>
  new Uint8Array(column.buffer, column.byteOffset, column.byteLength)

/** Whether floats of 32 bits hold all these values exactly. */
export function areSingles(values: Float64Array, from: number, count: number): boolean {
  for (let i = from; i < from + count; i++) {
    const value = at(values, i)
    if (Math.fround(value) !== value && !Number.isNaN(value)) return false
  }
  return true
}

/** Bit for bit: 0 and -0 differ. */
function isConstant(values: Float64Array, from: number, count: number): boolean {
  if (count === 0) return false
  const first = at(values, from)
  for (let i = from + 1; i < from + count; i++) if (!Object.is(at(values, i), first)) return false
  return true
}

const maxDecimalPlaces = 6
/** Beyond this a multiple of a power of ten is no longer an exact double. */
const maxScaled = 2 ** 50

const scale = (value: number, places: number) => Math.round(value * 10 ** places)

/** The number of decimal places that represents every value exactly, at most 6; null if there is none. */
function decimalPlacesOf(values: Float64Array, from: number, count: number): number | null {
  let places = 0
  for (let i = from; i < from + count; i++) {
    const value = at(values, i)
    while (!isDecimal(value, places)) if (++places > maxDecimalPlaces) return null
  }
  // An earlier value may be exact with fewer places but not with more.
  for (let i = from; i < from + count; i++) if (!isDecimal(at(values, i), places)) return null
  return places
}

function isDecimal(value: number, places: number): boolean {
  const scaled = scale(value, places)
  // No integer represents -0; adding 0 turns it into 0, which differs from the value.
  return Math.abs(scaled) <= maxScaled && Object.is((scaled + 0) / 10 ** places, value)
}

function writeDoubles(writer: Writer, values: Float64Array, from: number, count: number): void {
  if (count < 8)
    for (let i = 0; i < count; i++) {
      writer.view.setFloat64(writer.at + i * 8, at(values, from + i), true)
    }
  else writer.bytes.set(bytesOf(values.subarray(from, from + count)), writer.at)
  writer.at += count * 8
}

function writeSingles(writer: Writer, values: Float64Array, from: number, count: number): void {
  for (let i = 0; i < count; i++)
    writer.view.setFloat32(writer.at + i * 4, at(values, from + i), true)
  writer.at += count * 4
}

function writePlanes(writer: Writer, source: Uint8Array, width: number): void {
  const count = source.length / width
  const { bytes } = writer
  for (let plane = 0; plane < width; plane++)
    for (let i = 0; i < count; i++) bytes[writer.at++] = at(source, i * width + plane)
}

/** Reads `count` values into `values` from index `from` on. */
export function readValues(
  reader: Reader,
  values: Float64Array,
  from: number,
  count: number,
): void {
  skip(reader, 1)
  const kind = at(reader.bytes, reader.at - 1)
  const target = values.subarray(from, from + count)
  if (kind === layout.singles) readSingles(reader, target)
  else if (kind === layout.doubles) readDoubles(reader, target)
  else if (kind === layout.constant) {
    readDoubles(reader, values.subarray(from, from + 1))
    target.fill(at(values, from))
  } else if (kind === layout.decimals) readDecimals(reader, values, from, count)
  else if (kind === layout.integers) readInts(reader, values, { from, count, before: -1 })
  else if (kind === layout.planes8) readPlanes(reader, bytesOf(target), 8)
  else if (kind === layout.planes4) {
    const singles = new Float32Array(count)
    readPlanes(reader, bytesOf(singles), 4)
    target.set(singles)
  } else throw new CorruptSeries(`unknown value layout ${kind}`)
}

function readSingles(reader: Reader, target: Float64Array): void {
  const start = reader.at
  skip(reader, target.length * 4)
  for (let i = 0; i < target.length; i++) target[i] = reader.view.getFloat32(start + i * 4, true)
}

function readDoubles(reader: Reader, target: Float64Array): void {
  const start = reader.at
  skip(reader, target.length * 8)
  if (target.length < 8)
    for (let i = 0; i < target.length; i++) target[i] = reader.view.getFloat64(start + i * 8, true)
  else bytesOf(target).set(reader.bytes.subarray(start, reader.at))
}

function readDecimals(reader: Reader, values: Float64Array, from: number, count: number): void {
  skip(reader, 1)
  const divisor = 10 ** at(reader.bytes, reader.at - 1)
  readInts(reader, values, { from, count, before: -1 })
  for (let i = from; i < from + count; i++) values[i] = at(values, i) / divisor
}

/** Assembles words from four planes at a time: a quarter of the writes, and in order. */
function readPlanes(reader: Reader, target: Uint8Array, width: number): void {
  const start = reader.at
  skip(reader, target.length)
  const count = target.length / width
  const words = new Uint32Array(target.buffer, target.byteOffset, target.length / 4)
  const stride = width / 4
  const { bytes } = reader
  for (let word = 0; word < stride; word++) {
    const p0 = start + word * 4 * count
    const p1 = p0 + count
    const p2 = p1 + count
    const p3 = p2 + count
    for (let i = 0; i < count; i++)
      words[i * stride + word] =
        at(bytes, p0 + i) |
        (at(bytes, p1 + i) << 8) |
        (at(bytes, p2 + i) << 16) |
        (at(bytes, p3 + i) << 24)
  }
}
