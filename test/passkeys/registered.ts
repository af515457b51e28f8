import type { Forge } from '../servers/forge.ts'
import { newAuthenticator } from './authenticator.ts'

export type Options = Record<string, unknown> & { challenge: string; user: { id: string } }
export type Passkey = {
  passkey_id: string
  name: string
  last_used_at: string | null
  recovery_codes: string[]
}
export type SignedIn = { token: string; user: { username: string } }

const originOf = (forge: Forge) => `http://localhost:${new URL(forge.url).port}`

/** A new authenticator in software, and the response to its registration. */
export async function registered(forge: Forge, token = forge.token, name = 'Laptop') {
  const authenticator = newAuthenticator(originOf(forge))
  const { body } = await forge.call<Options>('POST', '/api/auth/passkeys/options', { token })
  const credential = authenticator.register(body)
  const reply = await forge.call<Passkey>('POST', '/api/auth/passkeys', {
    token,
    body: { name, credential },
  })
  return { authenticator, reply, credential }
}

/** The challenge of a sign-in with a passkey alone. */
export const begin = async (forge: Forge) =>
  (await forge.call<Options>('POST', '/api/auth/passkeys/sign-in/options', { token: null })).body

export const signIn = (forge: Forge, credential: object) =>
  forge.call<SignedIn>('POST', '/api/auth/passkeys/sign-in', { token: null, body: { credential } })
