import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { Refresh } from './contexts.ts'

/** The expiry of an access token, read from the token; null if it has none. */
export function expiryOf(token: string): string | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof exp === 'number' ? toTimestamp(new Date(exp * 1000)) : null
  } catch {
    return null
  }
}

/** When the person must sign in again, as far as is known here; null when signed out. */
export const endOfSignIn = ({ token, refresh }: Kept): string | null =>
  refresh?.expires_at ?? (token === null ? null : expiryOf(token))

type Kept = { token: string | null; refresh?: Refresh | null | undefined }
