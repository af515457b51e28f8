import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import jwt from 'jsonwebtoken'
import { client } from './forge-with-provider.ts'

export type Key = { kid: string; privateKey: KeyObject; publicKey: KeyObject }

export function newKey(kid: string): Key {
  return { kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) }
}

export type IdClaims = Record<string, unknown>

/** A token signed by this key; `alg` and `kid` may be false. */
export const signedBy = ({ privateKey, kid }: Key, claims: IdClaims): string =>
  jwt.sign(claims, privateKey, { algorithm: 'RS256', keyid: kid })

/** The parameters in a browser's redirect to the provider. */
export type Asked = { state: string; nonce: string; challenge: string }

export type HostileProvider = {
  issuer: string
  /** The published keys. */
  published: Key[]
  /** Extra fields of its discovery document. */
  metadata: Record<string, unknown>
  /** Creates the ID token, in whatever way the test wants. */
  idToken: (honest: IdClaims) => string
  /** Replaces the whole response of an endpoint, by path. */
  instead: Map<string, (answer: ServerResponse) => void>
  /** A valid code; codes never expire, so that only Forge can prevent replays. */
  codeFor(asked: Asked): string
  /** How often a code was redeemed with the right secret and verifier. */
  redeemed(): number
}

/** A provider that is correct except for the test's changes. */
export function hostileProvider(issuer: string, server: Server): HostileProvider {
  const codes = new Map<string, Asked>()
  let redemptions = 0
  const key = newKey('first')
  const provider: HostileProvider = {
    issuer,
    published: [key],
    metadata: {},
    idToken: honest => signedBy(key, honest),
    instead: new Map(),
    codeFor(asked) {
      const code = `code-${codes.size}`
      codes.set(code, asked)
      return code
    },
    redeemed: () => redemptions,
  }
  const redeem = async (request: IncomingMessage) => {
    const form = new URLSearchParams(await text(request))
    const asked = codes.get(form.get('code') ?? '')
    const verifier = form.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (!asked || challenge !== asked.challenge || request.headers.authorization !== ourClient)
      return { status: 400, body: { error: 'invalid_grant' } }
    redemptions++
    const id_token = provider.idToken(honestClaims(issuer, asked))
    return { status: 200, body: { access_token: 'opaque', token_type: 'Bearer', id_token } }
  }
  server.on('request', async (request, answer) => {
    const path = new URL(request.url ?? '/', issuer).pathname
    const other = provider.instead.get(path)
    if (other) return other(answer)
    const { status, body } =
      path === '/token' ? await redeem(request) : { status: 200, body: documents(provider)[path] }
    answer.writeHead(body ? status : 404, { 'content-type': 'application/json' })
    answer.end(JSON.stringify(body ?? {}))
  })
  return provider
}

/** RFC 6749, 2.3.1: both parts are form-encoded first. */
const encoded = (part: string) => new URLSearchParams({ part }).toString().slice('part='.length)
const ourClient = `Basic ${Buffer.from(`${encoded(client.id)}:${encoded(client.secret)}`).toString('base64')}`

function honestClaims(issuer: string, { nonce }: Asked): IdClaims {
  const now = Math.floor(Date.now() / 1000)
  const whom = { sub: 'u-1', preferred_username: 'ada' }
  return { iss: issuer, aud: client.id, iat: now, exp: now + 300, nonce, ...whom }
}

function documents({ issuer, published, metadata }: HostileProvider): Record<string, unknown> {
  return {
    '/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
      ...metadata,
    },
    '/jwks': {
      keys: published.map(({ publicKey, kid }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid,
        use: 'sig',
      })),
    },
  }
}
