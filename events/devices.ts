import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

const decision = () => Type.Object({ device_id: Type.String(), username: Type.String() })

/** A person approved a device's sign-in; its `user.login` follows when the device fetches its token. */
export const deviceApproved = event(
  'user.device_approved',
  decision(),
  (_, who) => `${who} approved the sign-in of a device`,
)

/** A person denied a device's sign-in. */
export const deviceDenied = event(
  'user.device_denied',
  decision(),
  (_, who) => `${who} denied the sign-in of a device`,
)

const events = [deviceApproved, deviceDenied] as const
export type DeviceEvent = EventOf<(typeof events)[number]>

export type Decision = 'approved' | 'denied'

/** Null until somebody decides. */
export type Decided = { decision: Decision; by: string } | null

function evolve(_: Decided, event: DeviceEvent): Decided {
  switch (event.type) {
    case 'user.device_approved':
      return { decision: 'approved', by: event.data.username }
    case 'user.device_denied':
      return { decision: 'denied', by: event.data.username }
  }
}

export const devices = aggregate('device', { events, initial: null, evolve })
export const deviceAt = (deviceId: string) => devices.at(deviceId)
