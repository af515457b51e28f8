import { Type } from 'typebox'
import { closed, nullable, timestamp } from './shared.ts'

/** The body of `PUT /api/admin/maintenance`. */
export const maintenanceInput = closed({
  enabled: Type.Boolean(),
  /** Sent with every 503; an empty one counts as none. */
  message: Type.String({ maxLength: 2000, default: '' }),
})

/** `message` is the current or last message; null if maintenance was never switched on. */
export const maintenance = Type.Object({
  enabled: Type.Boolean(),
  message: nullable(Type.String()),
  changed_at: nullable(timestamp()),
  changed_by: nullable(Type.String()),
})
