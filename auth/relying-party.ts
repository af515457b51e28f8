import { isIP } from 'node:net'
import { Refusal } from '../platform/refusal.ts'

/** An installation in the terms of WebAuthn. */
export type RelyingParty = { id: string; origin: string }

export type Installation = {
  /** The public address. */
  baseUrl: string
  /** Display name of the identity provider; null if people sign in with passwords. */
  providerName: string | null
}

/** Refuses where browsers offer no passkeys, or people sign in elsewhere. */
export function relyingPartyOf({ baseUrl, providerName }: Installation): RelyingParty {
  if (providerName !== null)
    throw new Refusal('not_configured', `Passkeys are disabled; sign in with ${providerName}`)
  const { hostname, origin, protocol } = new URL(baseUrl)
  const need = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 ? 'a host name' : 'https'
  if (need === 'a host name' || (protocol !== 'https:' && hostname !== 'localhost'))
    throw new Refusal(
      'not_configured',
      `Passkeys need ${need}, and the address of this installation is ${origin}`,
      { hint: 'SERVICE_BASE_URL' },
    )
  return { id: hostname, origin }
}

export function hasPasskeys(installation: Installation): boolean {
  try {
    relyingPartyOf(installation)
    return true
  } catch {
    return false
  }
}
