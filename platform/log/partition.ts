/** The partition of `key`, chosen as Kafka's own clients do. */
export function partitionOf(key: string, count: number): number {
  return count === 1 ? 0 : (murmur2(Buffer.from(key)) & 0x7fffffff) % count
}

const mixer = 0x5bd1e995
const seed = 0x9747b28c

/** Same as `org.apache.kafka.common.utils.Utils.murmur2`: a signed 32-bit number. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes
  const whole = length & ~3
  const at = (index: number) => bytes[index] ?? 0
  let hash = seed ^ length
  for (let i = 0; i < whole; i += 4) {
    const word = at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24)
    const mixed = Math.imul(word, mixer)
    hash = Math.imul(hash, mixer) ^ Math.imul(mixed ^ (mixed >>> 24), mixer)
  }
  if (whole < length) {
    // Bytes past the end count as 0.
    hash ^= at(whole) | (at(whole + 1) << 8) | (at(whole + 2) << 16)
    hash = Math.imul(hash, mixer)
  }
  hash = Math.imul(hash ^ (hash >>> 13), mixer)
  return hash ^ (hash >>> 15)
}
