import type { Readable } from 'node:stream'
import { maxLineBytes } from './bounds.ts'

const lineFeed = 0x0a

/** `offset`: of the line's first byte in the stream. A line that is too long comes without bytes. */
type OnLine = (line: Buffer | null, offset: number) => void

/** Splits a stream into lines, without their line feeds. The bytes are valid only during the call. */
export class LineSplitter {
  readonly #onLine: OnLine
  /** The beginning of a line whose end has not come yet. */
  #parts: Buffer[] = []
  #held = 0
  #start = 0
  #position = 0

  constructor(onLine: OnLine) {
    this.#onLine = onLine
  }

  write(chunk: Buffer): void {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(lineFeed, from)
      if (end === -1) break
      this.#hold(chunk.subarray(from, end))
      this.#emit()
      from = end + 1
      this.#start = this.#position + from
    }
    this.#hold(chunk.subarray(from))
    this.#position += chunk.length
  }

  end(): void {
    if (this.#position > this.#start) this.#emit()
  }

  #hold(part: Buffer): void {
    this.#held += part.length
    if (this.#held > maxLineBytes) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  #emit(): void {
    const isTooLong = this.#held > maxLineBytes
    const [first] = this.#parts
    const line = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#held = 0
    this.#onLine(isTooLong ? null : line, this.#start)
  }
}

/** Calls `onChunk` for each chunk of a stream until it returns false. Throws when the signal aborts. */
export async function eachChunk(
  stream: Readable,
  signal: AbortSignal | null,
  onChunk: (chunk: Buffer) => boolean,
): Promise<void> {
  try {
    for await (const chunk of stream) {
      signal?.throwIfAborted()
      if (!onChunk(chunk)) return
    }
  } finally {
    stream.destroy()
  }
}

export function withoutCarriageReturn(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line
}

export const startsWithBom = (bytes: Buffer): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

/** UTF-16 in either order of bytes. */
export const isUtf16 = (bytes: Buffer): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
