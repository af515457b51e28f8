import type { Maintenance, MaintenanceEvent } from '../../events/maintenance.ts'

const usualMessage = 'The server is under maintenance; try again later'

/** An empty message selects the default one. */
export type SwitchMaintenance = { enabled: boolean; message: string }

/** A new message during maintenance appends an event. Idempotent otherwise. */
export function switchMaintenance(
  maintenance: Maintenance,
  command: SwitchMaintenance,
): MaintenanceEvent[] {
  const { enabled } = command
  const message = command.message || usualMessage
  if (!enabled) return maintenance ? [{ type: 'admin.maintenance_off', data: {} }] : []
  if (maintenance?.message === message) return []
  return [{ type: 'admin.maintenance_on', data: { message } }]
}
