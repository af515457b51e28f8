import type { Context } from 'koa'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Page } from '../slice.ts'
import type { Asset, Assets } from './assets.ts'

/** Content security policy: pages load from and connect to this server only, nothing inline. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]

/** Public, because pages hold no secrets: their data comes from the API with the reader's own token. */
export const pageRoutes = (assets: Assets | null, pages: readonly Page[]): Route[] => [
  ...pages.map(page => pageRoute(assets, page)),
  route({
    method: 'GET',
    path: '/assets/{file}',
    credential: 'none',
    tag: 'pages',
    summary: 'Scripts and styles of the console',
    params: Type.Object({ file: Type.String({ minLength: 1, maxLength: 128 }) }),
    response: { mediaType: 'text/javascript', description: 'A script or a style sheet' },
    refusals: ['not_found'],
    async handle({ params, ctx }) {
      const asset = assets?.byName.get(params.file)
      if (!asset) throw new Refusal('not_found', `No such file: ${params.file}`)
      // Its name changes with its content.
      sendAsset(ctx, asset, 'public, max-age=31536000, immutable')
    },
  }),
]

const pageRoute = (assets: Assets | null, { path, summary, params }: Page): Route =>
  route({
    method: 'GET',
    path,
    credential: 'none',
    tag: 'pages',
    summary,
    ...(params && { params }),
    response: { mediaType: 'text/html', description: 'A page' },
    refusals: ['not_configured'],
    async handle({ ctx }) {
      sendPage(ctx, assets)
    },
  })

/** The console's page, the same for every path. */
export function sendPage(ctx: Context, assets: Assets | null): void {
  if (assets === null)
    throw new Refusal(
      'not_configured',
      'The console is not built here, and could not be: see the log of the server, or run npm run build',
    )
  ctx.set('Content-Security-Policy', policy.join('; '))
  ctx.set('X-Frame-Options', 'DENY')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin')
  ctx.set('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()')
  sendAsset(ctx, assets.page, 'no-cache')
}

function sendAsset(ctx: Context, asset: Asset, caching: string): void {
  ctx.set('Cache-Control', caching)
  ctx.set('ETag', asset.etag)
  ctx.set('Vary', 'Accept-Encoding')
  ctx.type = asset.type
  if (ctx.get('if-none-match').includes(asset.etag)) {
    ctx.status = 304
    return
  }
  const isGzipped = asset.gzipped !== null && ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  if (isGzipped) ctx.set('Content-Encoding', 'gzip')
  ctx.body = isGzipped ? asset.gzipped : asset.bytes
}
