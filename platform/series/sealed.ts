import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { CorruptSeries, createReader, createWriter, type Reader, type Writer } from './varint.ts'

/** Version byte, codec byte, and a CRC-32 (little-endian) over those two and the body as stored. */
const headerBytes = 6
const codec = { plain: 0, zstd: 1 } as const

/** Compressed bytes are used only if they save at least this share. */
const minSaving = 0.05

/**
 * Puts a version and a checksum in front of a body. With a level, the body is compressed with zstd if that makes it
 * shorter; a call costs about 25 µs even for short bodies, so the caller decides when to try.
 */
export function seal(version: number, body: Buffer, zstdLevel: number | null): Buffer {
  const compressed = zstdLevel === null ? null : compress(body, zstdLevel)
  return compressed ? frame(version, codec.zstd, compressed) : frame(version, codec.plain, body)
}

function compress(body: Buffer, level: number): Buffer | null {
  const params = { [constants.ZSTD_c_compressionLevel]: level }
  const compressed = zstdCompressSync(body, { params })
  return compressed.length < body.length * (1 - minSaving) ? compressed : null
}

function frame(version: number, codecByte: number, stored: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + stored.length)
  bytes[0] = version
  bytes[1] = codecByte
  bytes.writeUInt32LE(checksum(version, codecByte, stored), 2)
  bytes.set(stored, headerBytes)
  return bytes
}

/** The CRC starts from the two header bytes, so that it covers them as well. */
const checksum = (version: number, codecByte: number, stored: Buffer) =>
  crc32(stored, version * 256 + codecByte)

/**
 * Returns the body; throws `CorruptSeries` for any flipped bit or missing byte. `maxBytes` limits the size of the
 * body after decompression.
 */
export function unseal(version: number, bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length < headerBytes) throw new CorruptSeries('shorter than a header')
  const [storedVersion = 0, codecByte = 0] = bytes
  const stored = bytes.subarray(headerBytes)
  if (bytes.readUInt32LE(2) !== checksum(storedVersion, codecByte, stored))
    throw new CorruptSeries('the checksum differs')
  if (storedVersion !== version) throw new CorruptSeries(`unknown version ${storedVersion}`)
  if (codecByte === codec.plain) return stored
  if (codecByte !== codec.zstd) throw new CorruptSeries(`unknown codec ${codecByte}`)
  try {
    return zstdDecompressSync(stored, { maxOutputLength: maxBytes })
  } catch (cause) {
    throw new CorruptSeries(`zstd: ${(cause as Error).message}`)
  }
}

/**
 * Encodes and decodes one stored format. `write` puts the body into an empty writer and returns the
 * level to compress it with; `open` throws `CorruptSeries` as `unseal` does.
 */
export function sealedFormat({ version, maxBodyBytes }: { version: number; maxBodyBytes: number }) {
  // Encoding is synchronous, so that one writer serves all calls.
  const writer = createWriter(256 * 1024)
  return {
    encode(write: (to: Writer) => number | null): Buffer {
      writer.at = 0
      const zstdLevel = write(writer)
      return seal(version, writer.bytes.subarray(0, writer.at), zstdLevel)
    },
    open: (bytes: Buffer): Reader => createReader(unseal(version, bytes, maxBodyBytes)),
  }
}
