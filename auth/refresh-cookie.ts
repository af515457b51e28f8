import { randomBytes } from 'node:crypto'
import type { Context } from 'koa'
import { basePathOf } from '../platform/http/base-path.ts'

export const createRefreshToken = (): string => randomBytes(32).toString('base64url')

const shape = /^[\w-]{43}$/

/**
 * The refresh token is sent only as this cookie (specification, "Authentication"). Browsers accept the `__Secure-`
 * name only over TLS, so plain http on a developer's machine uses a plain name. TLS may end at a proxy that is
 * visible only in the public address.
 */
export const isSecure = ({ ctx, baseUrl }: CookieOf) => ctx.secure || baseUrl.startsWith('https:')
const nameFor = (of: CookieOf) => (isSecure(of) ? '__Secure-forge_refresh' : 'forge_refresh')

/** `baseUrl`: the public address of this installation. */
export type CookieOf = { ctx: Context; baseUrl: string }

/** The refresh token of a request; null if missing or malformed. */
export function refreshTokenOf(of: CookieOf): string | null {
  const token = of.ctx.cookies.get(nameFor(of))
  return token !== undefined && shape.test(token) ? token : null
}

export const setRefreshCookie = (of: CookieOf, token: string, lifetimeSeconds: number): void =>
  setCookie(of, token, lifetimeSeconds)

export const clearRefreshCookie = (of: CookieOf): void => setCookie(of, '', 0)

function setCookie(of: CookieOf, value: string, maxAgeSeconds: number): void {
  const path = `${basePathOf(of.baseUrl)}/api/auth`
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Strict']
  if (isSecure(of)) attributes.push('Secure')
  of.ctx.append('Set-Cookie', [`${nameFor(of)}=${value}`, ...attributes].join('; '))
}
