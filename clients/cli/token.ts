import { toTimestamp } from '../../schemas/timestamp.ts'

/** When an access token ends by itself, read from the token; null where it does not say. */
export function expiryOf(token: string): string | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof exp === 'number' ? toTimestamp(new Date(exp * 1000)) : null
  } catch {
    return null
  }
}
