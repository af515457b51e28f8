/**
 * Array parameters in PostgreSQL's binary format. The driver writes arrays as text, which costs more per number than
 * all the rest of a batched insert, and doubles the size of `bytea`; it passes a Buffer on unchanged. The query must
 * name the type: `unnest($1::int8[])`.
 */
const oid = { bytea: 17, int8: 20, int4: 23, text: 25, float8: 701 } as const

/** Number of dimensions, whether there are nulls, element type, length, lower bound. */
const headerBytes = 20

function start(elementType: number, count: number, bytes: number): Buffer {
  // In Postgres an empty array has no dimensions.
  const array = Buffer.allocUnsafe(count === 0 ? 12 : headerBytes + count * 4 + bytes)
  array.writeInt32BE(count === 0 ? 0 : 1, 0)
  array.writeInt32BE(0, 4)
  array.writeInt32BE(elementType, 8)
  if (count === 0) return array
  array.writeInt32BE(count, 12)
  array.writeInt32BE(1, 16)
  return array
}

type Numbers = ArrayLike<number>

/** Integers of 32 bits. */
export function int4Array(values: Numbers, count = values.length): Buffer {
  const array = start(oid.int4, count, count * 4)
  const view = new DataView(array.buffer, array.byteOffset, array.length)
  for (let i = 0, at = headerBytes; i < count; i++, at += 8) {
    view.setInt32(at, 4)
    view.setInt32(at + 4, values[i] ?? 0)
  }
  return array
}

/** Safe integers. */
export function int8Array(values: Numbers, count = values.length): Buffer {
  const array = start(oid.int8, count, count * 8)
  const view = new DataView(array.buffer, array.byteOffset, array.length)
  for (let i = 0, at = headerBytes; i < count; i++, at += 12) {
    const value = values[i] ?? 0
    const high = Math.floor(value / 2 ** 32)
    view.setInt32(at, 8)
    view.setInt32(at + 4, high)
    view.setUint32(at + 8, value - high * 2 ** 32)
  }
  return array
}

export function float8Array(values: Numbers, count = values.length): Buffer {
  const array = start(oid.float8, count, count * 8)
  const view = new DataView(array.buffer, array.byteOffset, array.length)
  for (let i = 0, at = headerBytes; i < count; i++, at += 12) {
    view.setInt32(at, 8)
    view.setFloat64(at + 4, values[i] ?? 0)
  }
  return array
}

export const byteaArray = (values: readonly Buffer[]): Buffer => variable(oid.bytea, values)

/** Texts without U+0000, which Postgres does not store. */
export const textArray = (values: readonly string[]): Buffer =>
  variable(
    oid.text,
    values.map(value => Buffer.from(value)),
  )

function variable(elementType: number, values: readonly Buffer[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + value.length, 0)
  const array = start(elementType, values.length, bytes)
  let at = headerBytes
  for (const value of values) {
    at = array.writeInt32BE(value.length, at)
    at += value.copy(array, at)
  }
  return array
}
