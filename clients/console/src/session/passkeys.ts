import type { Static } from 'typebox'
import type { passkeyRegistered } from '../../../../schemas/passkeys.ts'
import type { loginReply } from '../../../../schemas/sessions.ts'
import { request, signInBy } from './session.ts'

type Json = Record<string, unknown>

/** Whether this browser has passkeys, in the form in which the server speaks about them. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential &&
  isSecureContext

/** Makes a passkey of this device; returns new recovery codes, if any. The person may refuse, or take too long: a `DOMException`. */
export async function registerPasskey(name: string): Promise<readonly string[]> {
  const options = await request<Json>('POST', '/api/auth/passkeys/options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  )
  const made = await navigator.credentials.create({ publicKey })
  const { recovery_codes } = await request<Static<typeof passkeyRegistered>>(
    'POST',
    '/api/auth/passkeys',
    { body: { name, credential: jsonOf(made) } },
  )
  return recovery_codes
}

export const signInByPasskey = (): Promise<void> =>
  signInBy(async post => {
    const options = await post<Json>('/api/auth/passkeys/sign-in/options')
    return post<Static<typeof loginReply>>('/api/auth/passkeys/sign-in', {
      credential: await signedBy(options),
    })
  })

export async function confirmByPasskey(): Promise<void> {
  const options = await request<Json>('POST', '/api/auth/passkeys/confirm/options')
  const credential = await signedBy(options)
  await request('POST', '/api/auth/passkeys/confirm', { body: { credential } })
}

export async function signedBy(options: Json): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  )
  return jsonOf(await navigator.credentials.get({ publicKey }))
}

function jsonOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser has no passkey')
  return credential.toJSON()
}
