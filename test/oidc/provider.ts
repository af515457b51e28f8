import { generateKeyPairSync } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import Provider from 'oidc-provider'
import {
  client,
  type ForgeWithProvider,
  providerAddress,
  startWithProvider,
} from './forge-with-provider.ts'
import { newVisitor, target, type Visitor } from './visitor.ts'

/** The provider's claims about a person besides their subject. */
export type Claims = {
  preferred_username?: string
  name?: string
  email?: string
  groups?: string[]
}

export type WithProvider = ForgeWithProvider & {
  /** By subject; may be changed at any time. */
  people: Map<string, Claims>
  /** Makes the provider unreachable. */
  goAway(): void
}

/** A server, and in this process a third-party OpenID provider. */
export async function startWithRealProvider(
  t: ExecutionContext,
  {
    givesRefreshTokens = false,
    env = {},
  }: { givesRefreshTokens?: boolean; env?: Record<string, string> } = {},
): Promise<WithProvider> {
  const { issuer, server } = await providerAddress(t)
  const forgeWithProvider = await startWithProvider(t, issuer, env)
  const people = new Map<string, Claims>()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [forgeWithProvider.redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' }] },
    cookies: { keys: ['only a test'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email'],
      groups: ['groups'],
    },
    issueRefreshToken: async () => givesRefreshTokens,
    // A deleted person has no account.
    findAccount: (_, sub) =>
      people.has(sub) ? { accountId: sub, claims: () => ({ sub, ...people.get(sub) }) } : undefined,
  })
  server.on('request', provider.callback())
  const goAway = () => {
    server.close()
    server.closeAllConnections()
  }
  return { ...forgeWithProvider, people, goAway }
}

/** Goes through the provider's pages as this person; returns the callback URL of Forge. */
export async function answerFor(
  visitor: Visitor,
  base: string,
  {
    subject,
    returnTo = '/device',
    prompt,
  }: { subject: string; returnTo?: string; prompt?: 'login' },
): Promise<URL> {
  const query = new URLSearchParams({ return_to: returnTo, ...(prompt && { prompt }) })
  let at = target(await visitor.get(`${base}/api/auth/oidc/login?${query}`))
  for (let page = 0; page < 10; page++) {
    if (at.origin === base) return at
    const response = await visitor.get(at)
    at =
      response.status < 400 && response.headers.has('location')
        ? target(response)
        : target(await visitor.post(at, formOf(await response.text(), subject)))
  }
  throw new Error(`the provider did not send back, but to ${at}`)
}

const formOf = (page: string, login: string) =>
  page.includes('name="login"')
    ? { prompt: 'login', login, password: 'any' }
    : { prompt: 'consent' }

/** Signs this person in; returns the callback's response and the browser, which now has the session. */
export async function signInAs(
  base: string,
  subject: string,
  returnTo?: string,
): Promise<{ visitor: Visitor; answer: Response }> {
  const visitor = newVisitor()
  const back = await answerFor(visitor, base, { subject, ...(returnTo && { returnTo }) })
  return { visitor, answer: await visitor.get(back, { accept: 'text/html' }) }
}
