import { randomFillSync } from 'node:crypto'
import { ulid } from 'ulid'
import { v7 } from 'uuid'

/** The source of instants; rules take them, and ids, as arguments, so that a replay gives the same result. */
export type Clock = () => Date
export const systemClock: Clock = () => new Date()

/** `run_01J…`: a prefixed ULID, sortable by time. */
export const prefixedId = (prefix: string): string => `${prefix}_${ulid(undefined, randomFraction)}`
export const eventId = (): string => v7({ random: sixteenRandomBytes() })

/** Random bytes for 256 ids: drawing them for each id costs more than everything else in it. */
const randomPool = new Uint8Array(16 * 256)
let drawn = randomPool.length

function randomBytesOf(count: number): Uint8Array {
  if (drawn + count > randomPool.length) {
    randomFillSync(randomPool)
    drawn = 0
  }
  drawn += count
  return randomPool.subarray(drawn - count, drawn)
}

const sixteenRandomBytes = () => randomBytesOf(16)

/** Supplies a character of an id, which needs 5 bits: one of 256 fractions in [0, 1). */
const randomFraction = () => (randomBytesOf(1)[0] ?? 0) / 256
