import { randomBytes } from 'node:crypto'
import type { Context } from 'koa'

export const createRefreshToken = (): string => randomBytes(32).toString('base64url')

const shape = /^[\w-]{43}$/

/**
 * The refresh token travels only as this cookie (specification, "Authentication"). Browsers take the
 * `__Secure-` name over TLS alone, so plain http on a developer's machine gets a plain name. TLS may end at
 * a proxy that we know of only by the address people use.
 */
export const isSecure = ({ ctx, baseUrl }: CookieOf) => ctx.secure || baseUrl.startsWith('https:')
const nameFor = (of: CookieOf) => (isSecure(of) ? '__Secure-forge_refresh' : 'forge_refresh')

/** `baseUrl`: where people reach this installation. */
export type CookieOf = { ctx: Context; baseUrl: string }

/** The refresh token a request carries; null for none, and for what never was one. */
export function refreshTokenOf(of: CookieOf): string | null {
  const token = of.ctx.cookies.get(nameFor(of))
  return token !== undefined && shape.test(token) ? token : null
}

export const setRefreshCookie = (of: CookieOf, token: string, lifetimeSeconds: number): void =>
  setCookie(of, token, lifetimeSeconds)

export const clearRefreshCookie = (of: CookieOf): void => setCookie(of, '', 0)

function setCookie(of: CookieOf, value: string, maxAgeSeconds: number): void {
  const attributes = ['Path=/api/auth', `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Strict']
  if (isSecure(of)) attributes.push('Secure')
  of.ctx.append('Set-Cookie', [`${nameFor(of)}=${value}`, ...attributes].join('; '))
}
