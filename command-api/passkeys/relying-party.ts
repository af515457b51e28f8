import { type Installation, type RelyingParty, relyingPartyOf } from '../../auth/relying-party.ts'
import type { Deps } from '../deps.ts'

export const installation = ({ config: { oidc }, baseUrl }: Deps): Installation => ({
  baseUrl: baseUrl(),
  providerName: oidc?.name ?? null,
})

export const relyingParty = (deps: Deps): RelyingParty => relyingPartyOf(installation(deps))

/** Its hundreds of modules are loaded when the first passkey is used. */
export const webauthn = () => import('@simplewebauthn/server')
