import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { Context } from 'koa'
import { Type } from 'typebox'
import { type Route, route } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'

const folder = join(import.meta.dirname, 'browser')
const uplot = join(createRequire(import.meta.url).resolve('uplot'), '..')

/** What the page may load and where it may connect: this server, and nothing inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

type Asset = { type: string; text: string }

/** Scripts are TypeScript here; browsers get them without the types, and with names that they can load. */
const script = (name: string): Asset => ({
  type: 'text/javascript; charset=utf-8',
  text: stripTypeScriptTypes(readFileSync(join(folder, `${name}.ts`), 'utf8'))
    .replaceAll(/from '\.\/([a-z-]+)\.ts'/g, "from '/assets/$1.js'")
    .replaceAll("from 'uplot'", "from '/assets/uplot.js'"),
})

const file = (path: string, type: string): Asset => ({ type, text: readFileSync(path, 'utf8') })

function loadAssets(): Map<string, Asset> {
  const scripts = ['api', 'charts', 'log', 'phases', 'run', 'stream']
  return new Map([
    ...scripts.map(name => [`${name}.js`, script(name)] as const),
    ['run.css', file(join(folder, 'run.css'), 'text/css; charset=utf-8')],
    ['uplot.js', file(join(uplot, 'uPlot.esm.js'), 'text/javascript; charset=utf-8')],
    ['uplot.css', file(join(uplot, 'uPlot.min.css'), 'text/css; charset=utf-8')],
  ])
}

/** The run's page. It holds nothing secret: all it shows it asks from the API with the reader's own token. */
export function pageRoutes(): Route[] {
  const assets = loadAssets()
  const page = readFileSync(join(folder, 'run.html'), 'utf8')
  return [
    route({
      method: 'GET',
      path: '/runs/{run_id}',
      credential: 'none',
      tag: 'pages',
      summary: 'The page of a run',
      params: Type.Object({ run_id: Type.String({ maxLength: 128 }) }),
      response: { mediaType: 'text/html', description: 'A page' },
      async handle({ ctx }) {
        ctx.type = 'text/html; charset=utf-8'
        protect(ctx)
        return page
      },
    }),
    route({
      method: 'GET',
      path: '/assets/{file}',
      credential: 'none',
      tag: 'pages',
      summary: 'Scripts and styles of the pages',
      params: Type.Object({ file: Type.String({ maxLength: 64 }) }),
      response: { mediaType: 'text/javascript', description: 'A script or a style sheet' },
      refusals: ['not_found'],
      async handle({ params, ctx }) {
        const asset = assets.get(params.file)
        if (!asset) throw new Refusal('not_found', `No such file: ${params.file}`)
        ctx.type = asset.type
        ctx.set('Cache-Control', 'no-cache')
        return asset.text
      },
    }),
  ]
}

function protect(ctx: Context): void {
  ctx.set('Content-Security-Policy', contentSecurityPolicy)
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Cache-Control', 'no-cache')
}
