import { Type } from 'typebox'
import { type EventOf, event } from './event.ts'

/** From now on the API answers 503 with this message, but for what is needed to end it. */
export const maintenanceOn = event('admin.maintenance_on', Type.Object({ message: Type.String() }))

/** The API serves again. */
export const maintenanceOff = event('admin.maintenance_off', Type.Object({}))

export const maintenanceEvents = [maintenanceOn, maintenanceOff] as const
export type MaintenanceEvent = EventOf<(typeof maintenanceEvents)[number]>
/** One installation has one switch. */
export const maintenanceStream = 'maintenance-switch'
