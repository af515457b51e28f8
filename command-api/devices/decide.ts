import type { Decided, Decision, DeviceEvent } from '../../events/devices.ts'
import { Refusal } from '../../platform/refusal.ts'

export type DecideDevice = {
  device_id: string
  decision: Decision
  username: string
  isExpired: boolean
}

/** A code is decided once. Idempotent: the same decision by the same person appends no event. */
export function decideDevice(decided: Decided, command: DecideDevice): DeviceEvent[] {
  const { device_id, decision, username } = command
  if (decided?.decision === decision && decided.by === username) return []
  if (decided) throw new Refusal('conflict', `This code was already ${decided.decision}`)
  if (command.isExpired)
    throw new Refusal('conflict', 'This code has expired; start the sign-in again for a new one')
  return [{ type: `user.device_${decision}`, data: { device_id, username } }]
}
