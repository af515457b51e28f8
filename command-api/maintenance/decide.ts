import type { Maintenance, MaintenanceEvent } from '../../events/maintenance.ts'

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
