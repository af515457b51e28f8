/** The output so far, from which later parts are copied. */
export type Output = {
  literals(from: Buffer, at: number, length: number): void
  /** Repeats `length` bytes that begin `distance` bytes before the end; they may overlap the added bytes. */
  copy(distance: number, length: number): void
  done(): Buffer
}

/** Grows up to `maxBytes`, so that a few hostile bytes cannot fill the memory. */
export function createOutput(maxBytes: number): Output {
  let buffer = Buffer.allocUnsafe(64 * 1024)
  let end = 0
  const makeRoom = (length: number) => {
    const needed = end + length
    if (needed > maxBytes) throw new Error(`it expands to more than ${maxBytes} bytes`)
    if (needed <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, buffer.length * 2)))
    buffer.copy(larger, 0, 0, end)
    buffer = larger
  }
  return {
    literals(from, at, length) {
      if (at + length > from.length) throw new Error('it ends inside a literal')
      makeRoom(length)
      from.copy(buffer, end, at, at + length)
      end += length
    },
    copy(distance, length) {
      if (distance === 0 || distance > end) throw new Error('it copies from before its start')
      makeRoom(length)
      for (let left = length; left > 0; ) {
        const bytes = Math.min(left, distance)
        buffer.copyWithin(end, end - distance, end - distance + bytes)
        end += bytes
        left -= bytes
      }
    },
    done: () => buffer.subarray(0, end),
  }
}
