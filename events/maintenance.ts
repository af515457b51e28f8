import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

/** From now on the API responds 503 with this message, except for the routes needed to end maintenance. */
export const maintenanceOn = event(
  'admin.maintenance_on',
  Type.Object({ message: Type.String() }),
  ({ message }, who) => `${who} began maintenance: ${message}`,
)

/** The API serves again. */
export const maintenanceOff = event(
  'admin.maintenance_off',
  Type.Object({}),
  (_, who) => `${who} ended maintenance`,
)

const events = [maintenanceOn, maintenanceOff] as const
export type MaintenanceEvent = EventOf<(typeof events)[number]>

/** Null while the API serves. */
export type Maintenance = { message: string } | null

function evolve(_: Maintenance, event: MaintenanceEvent): Maintenance {
  switch (event.type) {
    case 'admin.maintenance_on':
      return { message: event.data.message }
    case 'admin.maintenance_off':
      return null
  }
}

export const maintenance = aggregate('maintenance', { events, initial: null, evolve })
/** One installation has one switch. */
export const maintenanceSwitch = maintenance.at('switch')
