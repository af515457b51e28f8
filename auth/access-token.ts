import type { KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { type Static, Type } from 'typebox'
import { checker } from '../schemas/validate.ts'
import type { KeyRing } from './keys.ts'

const issuer = 'forge'
const audience = 'forge/api'
const type = 'at+jwt'
/** Maximum length (RFC 8725): our tokens are always shorter. */
const maxLength = 4096
/** The largest permitted `SERVICE_JWT_HOURS`. */
const maxLifetimeSeconds = 720 * 3600
/** Accepted clock difference between two hosts. */
const leewaySeconds = 60

const claims = Type.Object(
  {
    sub: Type.String({ minLength: 1 }),
    role: Type.Union([Type.Literal('admin'), Type.Literal('operator')]),
    // It is used in a query, where U+0000 would be an error.
    sid: Type.String({ pattern: '^[\\w-]{1,64}$' }),
    jti: Type.String({ minLength: 1 }),
    iat: Type.Integer({ minimum: 0 }),
    exp: Type.Integer({ minimum: 0 }),
    iss: Type.Literal(issuer),
    aud: Type.Literal(audience),
  },
  { additionalProperties: false },
)
const head = Type.Object(
  { alg: Type.Literal('ES256'), typ: Type.Literal(type), kid: Type.String() },
  { additionalProperties: false },
)
const isClaims = checker(claims, 'header')
const isHead = checker(head, 'header')

export type AccessClaims = Omit<Static<typeof claims>, 'iss' | 'aud'>

/** Signs an access token (RFC 9068 form): ES256, `kid` in the header, times in seconds. */
export function signAccessToken(keys: KeyRing, given: AccessClaims): string {
  const { kid, privateKey } = keys.current()
  return jwt.sign({ ...given, iss: issuer, aud: audience }, privateKey, {
    algorithm: 'ES256',
    header: { alg: 'ES256', typ: type, kid },
  })
}

/**
 * The claims of a token that we signed and that has not expired at `now`; null for any other text. The token has no
 * influence on how it is verified (RFC 8725): the algorithm is fixed, and the key must be ours.
 */
export async function verifyAccessToken(
  keys: KeyRing,
  token: string,
  now: Date,
): Promise<AccessClaims | null> {
  if (token.length > maxLength) return null
  const parsed = verified.get(token) ?? parse(token)
  const key = parsed && (await keys.find(parsed.kid))
  if (!key || !isSignedBy(key.publicKey, token, parsed)) return null
  const nowSeconds = now.getTime() / 1000
  const { exp, iat } = parsed.claims
  const isTimely =
    exp > nowSeconds && iat <= nowSeconds + leewaySeconds && exp - iat <= maxLifetimeSeconds
  return isTimely ? parsed.claims : null
}

/** `signedBy`: the key that verified the signature. */
type Parsed = { kid: string; claims: AccessClaims; signedBy: KeyObject | null }

/**
 * Caches the newest tokens with a valid signature: verifying one costs more than the rest of authenticating a small
 * request. Times, and whether the key is still in use, are checked on every call.
 */
const verified = new Map<string, Parsed>()
const mostVerified = 1000

function parse(token: string): Parsed | null {
  const parts = shape.exec(token)
  if (!parts) return null
  const header = isHead(plainJson(parts[1]))
  const payload = isClaims(plainJson(parts[2]))
  if (!header.ok || !payload.ok || !isPlainText(parts[3])) return null
  return { kid: header.value.kid, claims: payload.value, signedBy: null }
}

function isSignedBy(publicKey: KeyObject, token: string, parsed: Parsed): boolean {
  if (parsed.signedBy === publicKey) return true
  if (!isSigned(token, publicKey)) return false
  verified.set(token, { ...parsed, signedBy: publicKey })
  const [oldest] = verified.keys()
  if (verified.size > mostVerified && oldest !== undefined) verified.delete(oldest)
  return true
}

/** An ES256 signature has 64 bytes, i.e. 86 characters. */
const shape = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/

/** Canonical base64url only: decoders ignore some bits of the last character. */
const isPlainText = (text = '') => Buffer.from(text, 'base64url').toString('base64url') === text

/**
 * The JSON of a part in our own formatting; undefined for any other text. Parsers disagree about repeated keys,
 * spaces and unnecessary escapes, and our tokens have none.
 */
function plainJson(part = ''): unknown {
  const text = Buffer.from(part, 'base64url').toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return isPlainText(part) && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

function isSigned(token: string, publicKey: jwt.PublicKey): boolean {
  try {
    // The caller checks the times, because it has the clock.
    jwt.verify(token, publicKey, { algorithms: ['ES256'], ignoreExpiration: true })
    return true
  } catch (error) {
    if (error instanceof jwt.JsonWebTokenError) return false
    throw error
  }
}
