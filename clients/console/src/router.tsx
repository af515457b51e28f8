import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router'
import { type Path, pages } from './pages/all.ts'
import type { LoadPage } from './pages/slice.ts'
import { queries } from './session/api.ts'
import { basePath } from './session/base-path.ts'
import { savesData } from './session/saves-data.ts'
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
const page = <const P extends string>(path: P, load: LoadPage) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: asSearch,
    component: lazyRouteComponent(load, 'Page'),
    loader: ({ params, location, preload }) => {
      // A page that is opened reads for itself.
      if (preload) readFor(load, params, asSearch(location.search))
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Begins to read what a page shows first, while somebody points at a link to it. */
function readFor(load: LoadPage, params: Record<string, string>, search: Search): void {
  load().then(
    ({ ahead }) => {
      for (const read of ahead?.({ params, search }) ?? []) void queries.prefetchQuery(read)
    },
    // Opening the page reports it.
    () => {},
  )
}

type PageRoute<P extends string> = P extends string ? ReturnType<typeof page<P>> : never

/** Shows every part of the console in every state, under `npm run dev` alone. */
const rooms = import.meta.env.DEV ? [page('/design', () => import('./design/room/page.tsx'))] : []

/** Safe: the route of each address is what `page` returns for it. */
const routeTree = root.addChildren([
  ...Object.entries(pages).map(([path, load]): unknown => page(path, load)),
  ...rooms,
] as PageRoute<Path>[])

export const router = createRouter({
  routeTree,
  basepath: basePath || '/',
  defaultErrorComponent: Broken,
  defaultPreload: savesData() ? false : 'intent',
  scrollRestoration: true,
  parseSearch: parseSearchWith(text => text),
  stringifySearch: stringifySearchWith(String),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
