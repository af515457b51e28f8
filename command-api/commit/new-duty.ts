import { hash } from 'node:crypto'
import type { Recorded } from '../../events/event.ts'

/** A new row of `write.duty`. */
export type NewDuty = {
  duty_id: string
  reactor: string
  cause: string
  event_id: string | null
  request_id: string
  payload: object
  created_at: string
  due_at: string
}

export type DutiesOf = (event: Recorded) => NewDuty[]

/** A payload identifies the work; leave out whatever can be looked up. */
const maxPayloadBytes = 64 * 1024

/** Throws, so that the command fails; cutting or dropping the duty silently would be worse. */
export function bounded(payload: object, reactor: string): object {
  const bytes = Buffer.byteLength(JSON.stringify(payload))
  if (bytes > maxPayloadBytes)
    throw new RangeError(`a duty of ${reactor} has ${bytes} bytes, more than ${maxPayloadBytes}`)
  return payload
}

/** A UUID of version 8 (RFC 9562) from a hash, so that the same cause always has the same duty. */
export function dutyIdOf(cause: string, reactor: string, index: number): string {
  const digest = hash('sha256', `${cause}/${reactor}/${index}`)
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) % 4]
  const groups = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ]
  return groups.join('-')
}
