import { randomBytes } from 'node:crypto'
import type { Context } from 'koa'

export const createRefreshToken = (): string => randomBytes(32).toString('base64url')

const shape = /^[\w-]{43}$/

/**
 * The refresh token travels only as this cookie (specification, "Authentication"). Browsers take the
 * `__Secure-` name over TLS alone, so plain http on a developer's machine gets a plain name.
 */
const nameFor = (ctx: Context) => (ctx.secure ? '__Secure-forge_refresh' : 'forge_refresh')

/** The refresh token a request carries; null for none, and for what never was one. */
export function refreshTokenOf(ctx: Context): string | null {
  const token = ctx.cookies.get(nameFor(ctx))
  return token !== undefined && shape.test(token) ? token : null
}

export const setRefreshCookie = (ctx: Context, token: string, lifetimeSeconds: number): void =>
  setCookie(ctx, token, lifetimeSeconds)

export const clearRefreshCookie = (ctx: Context): void => setCookie(ctx, '', 0)

function setCookie(ctx: Context, value: string, maxAgeSeconds: number): void {
  const attributes = ['Path=/api/auth', `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Strict']
  if (ctx.secure) attributes.push('Secure')
  ctx.append('Set-Cookie', [`${nameFor(ctx)}=${value}`, ...attributes].join('; '))
}
