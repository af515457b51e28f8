import type { Context } from 'koa'
import { Refusal } from '../refusal.ts'

/**
 * Refuses cross-site requests with our cookie. Browsers send the page's origin with every POST, PUT, PATCH and
 * DELETE; a client without one is not a browser and sends the cookie on purpose. `baseUrl`: the public address
 * of this installation.
 */
export function refuseForeignOrigin(ctx: Context, baseUrl: string): void {
  const origin = ctx.get('origin')
  const site = ctx.get('sec-fetch-site')
  if (origin === '' && (site === '' || site === 'none' || site === 'same-origin')) return
  // The cookie belongs to the requested host, so pages of that host may use it under any of its names.
  const own = [new URL(baseUrl).origin, `${ctx.protocol}://${ctx.host}`]
  if (own.includes(origin)) return
  throw new Refusal(
    'forbidden',
    `Pages of ${origin || 'another site'} may not do this; only pages of ${own[0]} may`,
    { code: 'origin.foreign' },
  )
}

/**
 * Refuses a visit that a page of another site began, even by a link. Browsers report this across all redirects; programs and
 * typed addresses send nothing or `none`.
 */
export function refuseForeignVisit(ctx: Context): void {
  if (!['cross-site', 'same-site'].includes(ctx.get('sec-fetch-site'))) return
  throw new Refusal('forbidden', 'Another site led here; only a page of this one may begin this', {
    code: 'origin.foreign',
  })
}
