import type { Context } from 'koa'

const bearerKinds: readonly [RegExp, string][] = [
  [/^fit_/, 'ingest token'],
  [/^fdt_/, 'deployment token'],
  [/^[\w-]+\.[\w-]+\.[\w-]+$/, 'access token'],
]

/** The kind of credential that a request carries, valid or not, for the log; never the credential itself. */
export function credentialKind(ctx: Context): string {
  const authorization = ctx.get('authorization')
  const token = ctx.get('x-service-token') || /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (token) return bearerKinds.find(([shape]) => shape.test(token))?.[1] ?? 'unknown token'
  if (authorization !== '') return 'other authorization'
  return /(^|; ?)(__Secure-)?forge_refresh=/.test(ctx.get('cookie')) ? 'refresh cookie' : 'none'
}
