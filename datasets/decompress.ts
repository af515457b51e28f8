import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Compressors } from 'hyparquet'

/** Each returns at most the length that the file states, which was checked before. Snappy is hyparquet's own. */
export const compressors: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
}

export const codecs = ['UNCOMPRESSED', 'SNAPPY', ...Object.keys(compressors)]
