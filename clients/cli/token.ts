import { toTimestamp } from '../../schemas/timestamp.ts'

/** The expiry of an access token, read from the token; null if it has none. */
export function expiryOf(token: string): string | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof exp === 'number' ? toTimestamp(new Date(exp * 1000)) : null
  } catch {
    return null
  }
}
