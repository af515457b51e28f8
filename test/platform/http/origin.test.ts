import test from 'ava'
import Koa from 'koa'
import { refuseForeignOrigin } from '../../../platform/http/origin.ts'
import { listen } from '../../../platform/http/server.ts'
import { Refusal } from '../../../platform/refusal.ts'

const base = 'https://forge.example'

/** The status for these headers; 200 if the request is let through. */
async function statusFor(headers: Record<string, string>): Promise<number> {
  const app = new Koa()
  app.use(ctx => {
    try {
      refuseForeignOrigin(ctx, base)
      ctx.status = 200
    } catch (error) {
      ctx.status = error instanceof Refusal ? error.status : 500
    }
  })
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  try {
    const own = `http://127.0.0.1:${server.port}`
    const named = Object.entries(headers).map(([name, value]) => [name, value.replace('$own', own)])
    const response = await fetch(own, {
      method: 'POST',
      headers: { connection: 'close', ...Object.fromEntries(named) },
    })
    return response.status
  } finally {
    await server.close()
  }
}

const allowed: Record<string, Record<string, string>> = {
  'no browser': {},
  'a page of the base address': { origin: base },
  'a page of the address that was asked': { origin: '$own' },
  'a page of ours that names no origin': { 'sec-fetch-site': 'same-origin' },
}
for (const [who, headers] of Object.entries(allowed))
  test(`a cookie may be used by ${who}`, async t => {
    t.is(await statusFor(headers), 200)
  })

const refused: Record<string, Record<string, string>> = {
  'another site': { origin: 'https://evil.example' },
  'a page with an opaque origin': { origin: 'null' },
  'our name on another port': { origin: 'https://forge.example:8443' },
  'our name without TLS': { origin: 'http://forge.example' },
  'a name that begins like ours': { origin: 'https://forge.example.evil.example' },
  'a name that ends like ours': { origin: 'https://evil-forge.example' },
  'another site that hides its origin': { 'sec-fetch-site': 'cross-site' },
  'a sibling host that hides its origin': { 'sec-fetch-site': 'same-site' },
  'text that is not an origin': { origin: 'forge.example' },
}
for (const [who, headers] of Object.entries(refused))
  test(`a cookie may not be used by ${who}`, async t => {
    t.is(await statusFor(headers), 403)
  })
