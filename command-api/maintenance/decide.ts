import type { MaintenanceEvent } from '../../events/maintenance.ts'

/** Null while the API serves. */
export type Maintenance = { message: string } | null
export const serving: Maintenance = null

export type SwitchMaintenance = { enabled: boolean; message: string }

/** Another message while it is on is told anew; what is so already changes nothing. */
export function switchMaintenance(
  maintenance: Maintenance,
  { enabled, message }: SwitchMaintenance,
): MaintenanceEvent[] {
  if (!enabled) return maintenance ? [{ type: 'admin.maintenance_off', data: {} }] : []
  if (maintenance?.message === message) return []
  return [{ type: 'admin.maintenance_on', data: { message } }]
}

export function evolve(_: Maintenance, event: MaintenanceEvent): Maintenance {
  switch (event.type) {
    case 'admin.maintenance_on':
      return { message: event.data.message }
    case 'admin.maintenance_off':
      return serving
  }
}
