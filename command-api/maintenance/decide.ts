import type { Maintenance, MaintenanceEvent } from '../../events/maintenance.ts'

const usualMessage = 'The server is being worked on; try again later'

/** An empty message stands for the usual one. */
export type SwitchMaintenance = { enabled: boolean; message: string }

/** A new message while it is on appends an event. Idempotent otherwise. */
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
