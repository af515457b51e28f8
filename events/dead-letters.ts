import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

/** A parked record, identified by its position on the log. */
const letter = () =>
  Type.Object({
    letter_id: Type.String(),
    topic: Type.String(),
    partition: Type.Integer({ minimum: 0 }),
    offset: Type.Integer({ minimum: 0 }),
    /** The run that reported it. */
    key: Type.String(),
  })

/** An admin replayed a parked record. */
export const deadLetterReplayed = event(
  'dead_letter.replayed',
  letter(),
  ({ letter_id, key }, who) => `${who} replayed the parked record ${letter_id} of ${key}`,
)

/** An admin decided never to apply a parked record. */
export const deadLetterDropped = event(
  'dead_letter.dropped',
  letter(),
  ({ letter_id, key }, who) => `${who} dropped the parked record ${letter_id} of ${key}`,
)

const events = [deadLetterReplayed, deadLetterDropped] as const
export type DeadLetterEvent = EventOf<(typeof events)[number]>

/** The admins' decision on a parked record; null if none. A rebuild may park a dropped one again. */
export type DeadLetterHandling = 'replayed' | 'dropped' | null

const evolve = (_: DeadLetterHandling, { type }: DeadLetterEvent): DeadLetterHandling =>
  type === 'dead_letter.replayed' ? 'replayed' : 'dropped'

export const deadLetters = aggregate('dead_letter', { events, initial: null, evolve })
