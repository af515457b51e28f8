import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'

/** The longest copy that is kept, and the most that is made of it, in bytes: expanding it holds up other requests. */
const maxCopy = 256 * 1024
const maxPlain = 4 * 1024 * 1024

const zlib = { maxOutputLength: maxPlain, finishFlush: constants.Z_SYNC_FLUSH }
const expand: Readonly<Record<string, (copy: Buffer) => Buffer>> = {
  gzip: copy => gunzipSync(copy, zlib),
  'x-gzip': copy => gunzipSync(copy, zlib),
  deflate: copy => inflateSync(copy, zlib),
  br: copy =>
    brotliDecompressSync(copy, {
      maxOutputLength: maxPlain,
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
    }),
  zstd: copy =>
    zstdDecompressSync(copy, {
      maxOutputLength: maxPlain,
      finishFlush: constants.ZSTD_e_flush,
    }),
}

export type EncodedCopy = {
  push(chunk: Uint8Array): void
  /** What arrived so far, expanded; null the second time, if it is too long, or if it cannot be read. */
  take(): Buffer | null
}

/** A copy of an encoded response; null for an encoding that is not known. */
export function encodedCopy(encoding: string): EncodedCopy | null {
  const expanded = Object.hasOwn(expand, encoding) ? expand[encoding] : undefined
  if (!expanded) return null
  let chunks: Uint8Array[] | null = []
  let size = 0
  return {
    push(chunk) {
      size += chunk.length
      if (size > maxCopy) chunks = null
      else chunks?.push(chunk)
    },
    take() {
      const copy = chunks && Buffer.concat(chunks)
      chunks = null
      try {
        return copy && expanded(copy)
      } catch {
        return null
      }
    },
  }
}
