import type { Context } from 'koa'
import { Refusal } from '../refusal.ts'

/**
 * Refuses what another site made a browser send along with our cookie. A browser names the page's origin on
 * every POST, PUT, PATCH and DELETE; who names none is no browser and holds no cookie against its will.
 * `baseUrl`: where people reach this installation.
 */
export function refuseForeignOrigin(ctx: Context, baseUrl: string): void {
  const origin = ctx.get('origin')
  const site = ctx.get('sec-fetch-site')
  if (origin === '' && (site === '' || site === 'none' || site === 'same-origin')) return
  // The cookie belongs to the host that was asked, so its own pages may also use it by another name.
  const own = [new URL(baseUrl).origin, `${ctx.protocol}://${ctx.host}`]
  if (own.includes(origin)) return
  throw new Refusal(
    'forbidden',
    `A page of ${origin || 'another site'} must not do this; only pages of ${own[0]} may`,
    { code: 'origin.foreign' },
  )
}
