import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router'
import { Frame } from './shell/frame.tsx'
import { Broken, NotFound } from './shell/wrong-turns.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: () => <NotFound /> })

/** The shareable state of a page: all of it is text. */
export type Search = Readonly<Record<string, string | undefined>>

/** The router reads `1` as a number and `true` as a boolean; both are turned back into their text. */
const asSearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [],
    ),
  )

/** A page whose code is loaded when it is opened; the module exports `Page`. */
const page = <const P extends string>(
  path: P,
  load: () => Promise<{ Page: () => React.ReactNode }>,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: asSearch,
    component: lazyRouteComponent(load, 'Page'),
  })

const run = () => import('./pages/run/page.tsx')
const admin = () => import('./pages/admin/page.tsx')

const routeTree = root.addChildren([
  page('/', () => import('./pages/home/page.tsx')),
  page('/runs', () => import('./pages/runs/page.tsx')),
  page('/runs/$run_id', run),
  page('/runs/$run_id/$tab', run),
  page('/compare', () => import('./pages/compare/page.tsx')),
  page('/queue', () => import('./pages/queue/page.tsx')),
  page('/submit', () => import('./pages/submit/page.tsx')),
  page('/rubrics', () => import('./pages/rubrics/page.tsx')),
  page('/rubrics/$owner/$name', () => import('./pages/rubrics/rubric.tsx')),
  page('/notifications', () => import('./pages/notifications/page.tsx')),
  page('/admin', admin),
  page('/admin/$section', admin),
  page('/settings', () => import('./pages/settings/page.tsx')),
  page('/device', () => import('./pages/device/page.tsx')),
])

export const router = createRouter({
  routeTree,
  defaultErrorComponent: Broken,
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch: parseSearchWith(text => text),
  stringifySearch: stringifySearchWith(String),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
