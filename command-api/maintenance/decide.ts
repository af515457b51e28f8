import type { Maintenance, MaintenanceEvent } from '../../events/maintenance.ts'

export type SwitchMaintenance = { enabled: boolean; message: string }

/** A new message while it is on appends an event. Idempotent otherwise. */
export function switchMaintenance(
  maintenance: Maintenance,
  { enabled, message }: SwitchMaintenance,
): MaintenanceEvent[] {
  if (!enabled) return maintenance ? [{ type: 'admin.maintenance_off', data: {} }] : []
  if (maintenance?.message === message) return []
  return [{ type: 'admin.maintenance_on', data: { message } }]
}
