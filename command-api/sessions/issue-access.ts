import { ulid } from 'ulid'
import { signAccessToken } from '../../auth/access-token.ts'
import type { Deps } from '../deps.ts'

export type AccessFor = {
  username: string
  role: 'admin' | 'operator'
  sid: string
  expires_at: Date
}

/** A new access token of a session; it never outlives the session. `expires_in` in seconds. */
export function issueAccess(
  { config, keys }: Deps,
  { username, role, sid, expires_at }: AccessFor,
  now: Date,
): { token: string; expires_in: number } {
  const iat = Math.floor(now.getTime() / 1000)
  const left = Math.floor(expires_at.getTime() / 1000) - iat
  const expires_in = Math.min(config.jwtHours * 3600, left)
  const claims = { sub: username, role, sid, jti: ulid(), iat, exp: iat + expires_in }
  return { token: signAccessToken(keys, claims), expires_in }
}
