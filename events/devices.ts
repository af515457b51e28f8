import { Type } from 'typebox'
import { type EventOf, event } from './event.ts'

const decision = () => Type.Object({ device_id: Type.String(), username: Type.String() })

/** A person let a device sign in as themselves; its `user.login` follows when the device fetches its token. */
export const deviceApproved = event('user.device_approved', decision())

/** A person refused a device that asked to sign in. */
export const deviceDenied = event('user.device_denied', decision())

export const deviceEvents = [deviceApproved, deviceDenied] as const
export type DeviceEvent = EventOf<(typeof deviceEvents)[number]>
export const deviceStream = (deviceId: string) => `device-${deviceId}`
