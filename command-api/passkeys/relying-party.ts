import { type RelyingParty, relyingPartyOf } from '../../auth/relying-party.ts'
import type { Deps } from '../deps.ts'

export const relyingParty = ({ config: { oidc }, baseUrl }: Deps): RelyingParty =>
  relyingPartyOf({ baseUrl: baseUrl(), providerName: oidc?.name ?? null })

/** Its hundreds of modules are loaded when the first passkey is used. */
export const webauthn = () => import('@simplewebauthn/server')
