import { randomBytes } from 'node:crypto'
import type { Context } from 'koa'

export const createRefreshToken = (): string => randomBytes(32).toString('base64url')

/**
 * The refresh token travels only as this cookie (specification, "Authentication"). Browsers take the
 * `__Secure-` name over TLS alone, so plain http on a developer's machine gets a plain name.
 */
export function setRefreshCookie(ctx: Context, token: string, days: number): void {
  const secure = ctx.secure
  const name = secure ? '__Secure-forge_refresh' : 'forge_refresh'
  const attributes = ['Path=/api/auth', `Max-Age=${days * 86_400}`, 'HttpOnly', 'SameSite=Strict']
  if (secure) attributes.push('Secure')
  ctx.append('Set-Cookie', [`${name}=${token}`, ...attributes].join('; '))
}
