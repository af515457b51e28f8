import { type Static, Type } from 'typebox'
import { role } from './sessions.ts'
import { closed, oneOf, timestamp } from './shared.ts'
import { toTimestamp } from './timestamp.ts'

/** `expires_in` and `interval` in seconds (RFC 8628, 3.2). */
export const deviceCodeReply = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
})

export const deviceTokenInput = closed({
  device_code: Type.String({ minLength: 1, maxLength: 256, 'x-secret': true }),
})

/** The access token under both names: `access_token` from RFC 6749, `token` as in the password sign-in. */
export const deviceTokenReply = Type.Object({
  access_token: Type.String(),
  token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  user: Type.Object({ username: Type.String(), role: role() }),
})

/** A user code as a person types it: in upper or lower case, with or without the hyphen. */
export const deviceRequestPath = Type.Object({
  user_code: Type.String({ minLength: 1, maxLength: 64 }),
})

/** The details a person sees before they decide. `consumed`: approved, and its token was fetched. */
export const deviceRequest = Type.Object({
  user_code: Type.String(),
  requested_ip: Type.String(),
  user_agent: Type.String(),
  requested_at: timestamp(),
  expires_at: timestamp(),
  state: oneOf('pending', 'approved', 'denied', 'consumed', 'expired'),
})
export type DeviceRequest = Static<typeof deviceRequest>

export const toDeviceRequest = (
  row: Omit<DeviceRequest, 'requested_at' | 'expires_at'> & {
    requested_at: Date
    expires_at: Date
  },
): DeviceRequest => ({
  user_code: row.user_code,
  requested_ip: row.requested_ip,
  user_agent: row.user_agent,
  requested_at: toTimestamp(row.requested_at),
  expires_at: toTimestamp(row.expires_at),
  state: row.state,
})
