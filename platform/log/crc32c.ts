/**
 * CRC-32C (Castagnoli), the checksum of Kafka batches. Eight bytes at a time with eight tables: four times as fast
 * as byte by byte. Node's own `zlib.crc32` uses another polynomial.
 */
export function crc32c(bytes: Uint8Array): number {
  const whole = bytes.length & ~7
  const at = (index: number) => bytes[index] ?? 0
  let crc = -1
  for (let i = 0; i < whole; i += 8) {
    crc ^= at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24)
    crc =
      entry(7, crc) ^
      entry(6, crc >>> 8) ^
      entry(5, crc >>> 16) ^
      entry(4, crc >>> 24) ^
      entry(3, at(i + 4)) ^
      entry(2, at(i + 5)) ^
      entry(1, at(i + 6)) ^
      entry(0, at(i + 7))
  }
  for (let i = whole; i < bytes.length; i++) crc = entry(0, crc ^ at(i)) ^ (crc >>> 8)
  return ~crc >>> 0
}

const polynomial = 0x82f63b78
const tables = makeTables()

/** Table `n` holds the effect of a byte on the sum when `n` bytes follow it. */
function entry(n: number, byte: number): number {
  return tables[(n << 8) | (byte & 0xff)] ?? 0
}

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ polynomial : sum >>> 1
    made[byte] = sum
  }
  for (let n = 256; n < made.length; n++) {
    const shorter = made[n - 256] ?? 0
    made[n] = (made[shorter & 0xff] ?? 0) ^ (shorter >>> 8)
  }
  return made
}
