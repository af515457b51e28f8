import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { Context } from 'koa'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'

const folder = join(import.meta.dirname, 'browser')
const uplot = join(createRequire(import.meta.url).resolve('uplot'), '..')

/** Content security policy: pages load from and connect to this server only, nothing inline. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]
type Asset = { type: string; text: string }

/** Scripts are written in TypeScript; browsers get them with types stripped and `.js` imports. */
const script = (name: string): Asset => ({
  type: 'text/javascript; charset=utf-8',
  text: stripTypeScriptTypes(readFileSync(join(folder, `${name}.ts`), 'utf8'))
    .replaceAll(/(from|import) '\.\/([a-z-]+)\.ts'/g, "$1 '/assets/$2.js'")
    .replaceAll("from 'uplot'", "from '/assets/uplot.js'"),
})

const file = (path: string, type: string): Asset => ({ type, text: readFileSync(path, 'utf8') })

const style = (name: string) => file(join(folder, `${name}.css`), 'text/css; charset=utf-8')

function loadAssets(): Map<string, Asset> {
  const scripts = [
    'account',
    'alerts',
    'api',
    'charts',
    'device',
    'header-marks',
    'home',
    'locale',
    'log',
    'mlflow',
    'mlflow-address',
    'notifications',
    'numbers',
    'page',
    'phases',
    'run',
    'sign-in',
    'stream',
    'why',
  ]
  const styles = ['account', 'device', 'header-marks', 'home', 'page', 'run']
  return new Map([
    ...scripts.map(name => [`${name}.js`, script(name)] as const),
    ...styles.map(name => [`${name}.css`, style(name)] as const),
    ['uplot.js', file(join(uplot, 'uPlot.esm.js'), 'text/javascript; charset=utf-8')],
    ['uplot.css', file(join(uplot, 'uPlot.min.css'), 'text/css; charset=utf-8')],
  ])
}

/** Public, because pages hold no secrets: their data comes from the API with the reader's own token. */
export function pageRoutes(): Route[] {
  const assets = loadAssets()
  return [
    route({
      method: 'GET',
      path: '/',
      tag: 'pages',
      summary: 'Sign-in, and the newest runs',
      ...page('home'),
    }),
    route({
      method: 'GET',
      path: '/account',
      tag: 'pages',
      summary: 'Where people change their own password',
      ...page('account'),
    }),
    route({
      method: 'GET',
      path: '/runs/{run_id}',
      tag: 'pages',
      summary: 'The page of a run',
      params: Type.Object({ run_id: Type.String({ maxLength: 128 }) }),
      ...page('run'),
    }),
    route({
      method: 'GET',
      path: '/device',
      tag: 'pages',
      summary: 'Where a person approves a sign-in that began elsewhere (RFC 8628)',
      ...page('device'),
    }),
    route({
      method: 'GET',
      path: '/api/ingest/mlflow/',
      tag: 'pages',
      summary: "Forwards from the addresses that MLflow's clients print to the pages of runs",
      ...page('mlflow'),
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

const html = (name: string) => readFileSync(join(folder, `${name}.html`), 'utf8')

/** A page, with the pieces that all pages share in the place of their names. */
function page(name: string) {
  const text = html(name)
    .replace('<!-- head -->\n', html('head'))
    .replace('<!-- sign-in -->\n', html('sign-in'))
  return {
    credential: 'none' as const,
    response: { mediaType: 'text/html', description: 'A page' },
    async handle({ ctx }: { ctx: Context }) {
      ctx.type = 'text/html; charset=utf-8'
      protect(ctx)
      return text
    },
  }
}

function protect(ctx: Context): void {
  ctx.set('Content-Security-Policy', policy.join('; '))
  ctx.set('X-Frame-Options', 'DENY')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Cache-Control', 'no-cache')
}
