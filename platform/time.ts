import { randomFillSync } from 'node:crypto'
import { ulid } from 'ulid'
import { v7 } from 'uuid'

/** The source of instants; rules take them, and ids, as arguments, so that a replay gives the same result. */
export type Clock = () => Date
export const systemClock: Clock = () => new Date()

/** `run_01J…`: a prefixed ULID, sortable by time. */
export const prefixedId = (prefix: string): string => `${prefix}_${ulid()}`
export const eventId = (): string => v7({ random: sixteenRandomBytes() })

/** Random bytes for 256 ids: drawing them for each id costs more than all the rest of it. */
const randomPool = new Uint8Array(16 * 256)
let drawn = randomPool.length

function sixteenRandomBytes(): Uint8Array {
  if (drawn === randomPool.length) {
    randomFillSync(randomPool)
    drawn = 0
  }
  drawn += 16
  return randomPool.subarray(drawn - 16, drawn)
}
