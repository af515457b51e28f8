/** The bytes are damaged, cut short, or of a version that this build does not know. */
export class CorruptSeries extends Error {
  constructor(reason: string) {
    super(`series bytes cannot be read: ${reason}`)
    this.name = 'CorruptSeries'
  }
}

/** A growing buffer; `at` is the index of the next byte to write. */
export type Writer = { bytes: Buffer; view: DataView; at: number }

/** `at` is the index of the next byte to read; nothing is read at or past `end`. */
export type Reader = { bytes: Buffer; view: DataView; at: number; end: number }

export function createWriter(capacity = 4096): Writer {
  const bytes = Buffer.allocUnsafeSlow(capacity)
  return { bytes, view: viewOf(bytes), at: 0 }
}

export const createReader = (bytes: Buffer): Reader => ({
  bytes,
  view: viewOf(bytes),
  at: 0,
  end: bytes.length,
})

const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** Makes room for `length` more bytes. */
export function reserve(writer: Writer, length: number): void {
  if (writer.at + length <= writer.bytes.length) return
  const grown = Buffer.allocUnsafeSlow(Math.max(writer.bytes.length * 2, writer.at + length))
  writer.bytes.copy(grown, 0, 0, writer.at)
  writer.bytes = grown
  writer.view = viewOf(grown)
}

/** The element of a column; the index must be within it. */
export const at = (
  column: Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array,
  index: number,
): number => column[index] as number

/** Maximum bytes of one varint: 53 bits in groups of 7. */
export const maxVarintBytes = 8

/** Little-endian groups of 7 bits. `value` is an integer from 0 to 2^53 - 1; room must be reserved. */
export function writeVarint(writer: Writer, value: number): void {
  const { bytes } = writer
  let rest = value
  while (rest > 0x7fffffff) {
    bytes[writer.at++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  while (rest > 127) {
    bytes[writer.at++] = (rest & 127) | 128
    rest >>>= 7
  }
  bytes[writer.at++] = rest
}

export function readVarint(reader: Reader): number {
  const { bytes } = reader
  let value = 0
  let scale = 1
  for (let i = 0; i < maxVarintBytes; i++) {
    if (reader.at >= reader.end) throw new CorruptSeries('it ends inside a number')
    const byte = at(bytes, reader.at++)
    value += (byte & 127) * scale
    if (byte < 128) return value
    scale *= 128
  }
  throw new CorruptSeries('a number has more than 53 bits')
}

/** Largest magnitude for `writeSigned`, so that the zig-zag form stays an exact double. */
export const maxSigned = 2 ** 52 - 1

/** Zig-zag: 0, -1, 1, -2, … become 0, 1, 2, 3, …, so that small magnitudes are short. */
export function writeSigned(writer: Writer, value: number): void {
  if (value < 64 && value >= -64) writer.bytes[writer.at++] = value < 0 ? -2 * value - 1 : 2 * value
  else writeVarint(writer, value < 0 ? -2 * value - 1 : 2 * value)
}

export function readSigned(reader: Reader): number {
  if (reader.at < reader.end) {
    const byte = at(reader.bytes, reader.at)
    if (byte < 128) {
      reader.at++
      return (byte >>> 1) ^ -(byte & 1)
    }
  }
  const zigzag = readVarint(reader)
  return zigzag % 2 === 1 ? -(zigzag + 1) / 2 : zigzag / 2
}

export function writeText(writer: Writer, text: string): void {
  reserve(writer, maxVarintBytes + text.length * 3)
  const { bytes } = writer
  // Short texts are nearly always ASCII, and a loop costs less than a call into the runtime.
  if (text.length < 64) {
    const start = writer.at
    bytes[writer.at++] = text.length
    let i = 0
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 127) break
      bytes[writer.at++] = code
    }
    if (i === text.length) return
    writer.at = start
  }
  writeVarint(writer, Buffer.byteLength(text))
  writer.at += bytes.write(text, writer.at, 'utf8')
}

export function readText(reader: Reader): string {
  const length = readVarint(reader)
  const start = reader.at
  skip(reader, length)
  return reader.bytes.toString('utf8', start, start + length)
}

/** Skips `length` bytes; throws `CorruptSeries` if there are fewer. */
export function skip(reader: Reader, length: number): void {
  if (length > reader.end - reader.at) throw new CorruptSeries('it ends too early')
  reader.at += length
}
