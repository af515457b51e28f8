import jwt from 'jsonwebtoken'
import { Type } from 'typebox'
import { checker } from '../../schemas/validate.ts'
import type { KeyRing } from './keys.ts'

export type AccessClaims = {
  sub: string
  role: 'admin' | 'operator'
  sid: string
  jti: string
  iat: number
  exp: number
}

const issuer = 'forge'
const audience = 'forge/api'
const type = 'at+jwt'
/** RFC 8725: anything longer is not one of ours. */
const maxLength = 4096

const claimsChecker = checker(
  Type.Object({
    sub: Type.String({ minLength: 1 }),
    role: Type.Union([Type.Literal('admin'), Type.Literal('operator')]),
    sid: Type.String({ minLength: 1 }),
    jti: Type.String({ minLength: 1 }),
    iat: Type.Integer({ minimum: 0 }),
    exp: Type.Integer({ minimum: 0 }),
    iss: Type.String(),
    aud: Type.String(),
  }),
  'header',
)

/** Signs an access token (RFC 9068 form): ES256, `kid` in the header, times in seconds. */
export function signAccessToken(keys: KeyRing, claims: AccessClaims): string {
  return jwt.sign({ ...claims, iss: issuer, aud: audience }, keys.current.privateKey, {
    algorithm: 'ES256',
    header: { alg: 'ES256', typ: type, kid: keys.current.kid },
  })
}

/** The claims of a token that we signed and that has not expired at `now`; null for any other text. */
export function verifyAccessToken(keys: KeyRing, token: string, now: Date): AccessClaims | null {
  if (token.length > maxLength || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
  try {
    const decoded = jwt.decode(token, { complete: true })
    if (decoded?.header.alg !== 'ES256' || decoded.header.typ !== type) return null
    const key = keys.byKid.get(String(decoded.header.kid))
    if (!key || Object.keys(decoded.header).length !== 3) return null
    const payload = jwt.verify(token, key.publicKey, {
      algorithms: ['ES256'],
      issuer,
      audience,
      clockTimestamp: Math.floor(now.getTime() / 1000),
    })
    const checked = claimsChecker(payload)
    return checked.ok ? (checked.value as AccessClaims) : null
  } catch (error) {
    if (error instanceof jwt.JsonWebTokenError || error instanceof SyntaxError) return null
    throw error
  }
}
