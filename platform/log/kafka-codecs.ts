import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gunzip, zstdDecompress } from 'node:zlib'
import { readLz4Frame } from './lz4.ts'
import { readSnappy } from './snappy.ts'

// Forge's own batches are not compressed. A topic's `compression.type`, or a tool that copies topics, may change
// that, and kafkajs reads only gzip, without a size limit.

type Codec = { decompress(bytes: Buffer): Promise<Buffer> }

const { Codecs, Types }: { Codecs: Record<number, () => Codec>; Types: Record<string, number> } =
  createRequire(import.meta.url)('kafkajs/src/protocol/message/compression')

/** Maximum size of a decompressed batch: a few bytes can expand to gigabytes. */
const maxOutputLength = 128 * 1024 * 1024

const codecs: Record<string, Codec['decompress']> = {
  GZIP: bytes => promisify(gunzip)(bytes, { maxOutputLength }),
  Snappy: async bytes => readSnappy(bytes, maxOutputLength),
  LZ4: async bytes => readLz4Frame(bytes, maxOutputLength),
  ZSTD: bytes => promisify(zstdDecompress)(bytes, { maxOutputLength }),
}

/** Makes kafkajs read all of Kafka's codecs; malformed data fails with the name of its codec. */
export function registerCodecs(): void {
  for (const [name, decompress] of Object.entries(codecs))
    Codecs[Types[name] ?? -1] = () => ({
      decompress: bytes =>
        decompress(bytes).catch(cause => {
          throw new Error(`its ${name} data cannot be read: ${cause.message}`, { cause })
        }),
    })
}
