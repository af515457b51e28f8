import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

/** `cause` is the stream whose event caused the duty, or `schedule <name>`. */
const duty = () =>
  Type.Object({ duty_id: Type.String(), reactor: Type.String(), cause: Type.String() })

/** An admin had a failed duty retried at once, with a fresh number of attempts. */
export const dutyRetried = event(
  'duty.retried',
  duty(),
  ({ duty_id, reactor, cause }, who) =>
    `${who} retried the duty ${duty_id} of ${reactor} for ${cause}`,
)

/** An admin decided never to perform a duty. */
export const dutyDropped = event(
  'duty.dropped',
  duty(),
  ({ duty_id, reactor, cause }, who) =>
    `${who} dropped the duty ${duty_id} of ${reactor} for ${cause}`,
)

const events = [dutyRetried, dutyDropped] as const
export type DutyEvent = EventOf<(typeof events)[number]>

/** The last action of an admin on a duty, or null; its progress is in its row. */
export type DutyHandling = {
  reactor: string
  cause: string
  retried: number
  dropped: boolean
} | null

function evolve(duty: DutyHandling, { type, data: { reactor, cause } }: DutyEvent): DutyHandling {
  const retried = duty?.retried ?? 0
  switch (type) {
    case 'duty.retried':
      return { reactor, cause, retried: retried + 1, dropped: false }
    case 'duty.dropped':
      return { reactor, cause, retried, dropped: true }
  }
}

export const duties = aggregate('duty', { events, initial: null, evolve })
