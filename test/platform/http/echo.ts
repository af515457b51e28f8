import type { ExecutionContext } from 'ava'
import { pino } from 'pino'
import { Type } from 'typebox'
import type { HttpRoute } from '../../../platform/http/route.ts'
import { listen } from '../../../platform/http/server.ts'
import { httpShell, type Shell } from '../../../platform/http/shell.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { telemetry } from '../../../platform/telemetry.ts'
import { closed, nullable, oneOf, timestamp } from '../../../schemas/shared.ts'

const point = closed({
  key: Type.String({ minLength: 1, maxLength: 5, pattern: '^[a-z]+$' }),
  step: Type.Integer({ minimum: 0, maximum: 10 }),
  value: Type.Number(),
  ts: Type.Optional(timestamp()),
})

/** According to the header `Name`. */
export type EchoCaller = { name: string | null }

export const routes: HttpRoute<EchoCaller>[] = [
  {
    method: 'POST',
    path: '/api/echo/{name}',
    tag: 'test',
    summary: 'Says what it was told',
    params: Type.Object({ name: Type.String() }),
    query: closed({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
    }),
    body: closed({
      points: Type.Array(point, { minItems: 1, maxItems: 3 }),
      note: Type.Optional(nullable(Type.String())),
      mode: Type.Optional(oneOf('fast', 'slow')),
      flag: Type.Optional(Type.Boolean()),
      extra: Type.Optional(Type.Unknown()),
      password: Type.Optional(Type.String({ maxLength: 3 })),
    }),
    bodyLimitBytes: 4096,
    response: Type.Unknown(),
    handle: async ({ body, params, query }) => ({ body, params, query }),
  },
  {
    method: 'GET',
    path: '/api/echo/self',
    tag: 'test',
    summary: 'Says something',
    response: { mediaType: ['text/csv', 'text/plain'], description: 'Something' },
    handle: async () => 'something',
  },
  {
    method: 'GET',
    path: '/api/broken',
    tag: 'test',
    summary: 'Has a defect',
    response: Type.Unknown(),
    async handle() {
      throw new TypeError('secret detail')
    },
  },
  {
    method: 'GET',
    path: '/api/refused',
    tag: 'test',
    summary: 'Refuses',
    response: Type.Unknown(),
    async handle() {
      throw new Refusal('rate_limited', 'slowly', {
        code: 'x.y',
        retryAfterSeconds: 7,
        data: { n: 1 },
      })
    },
  },
]

/** The echo route, and `more`, behind the real shell, on its own port. */
export async function startEcho(
  t: ExecutionContext,
  more: readonly HttpRoute<EchoCaller>[] = [],
  settings: Pick<Shell<HttpRoute<EchoCaller>>, 'bodyRoomBytes' | 'nameOf' | 'rephrase'> = {},
) {
  const app = httpShell({
    ...settings,
    routes: [...routes, ...more],
    authenticate: async ctx => ({ name: ctx.get('name') || null }),
    log: pino({ level: 'silent' }),
    metrics: telemetry().http,
    trustedProxyHops: 0,
    admit: () => {},
    count: async () => {},
  })
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${server.port}`
  const post = async (body: string | Buffer, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/echo/a`, {
      method: 'POST',
      body: body as BodyInit,
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    })
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
  return { url, post, port: server.port, close: server.close }
}

/** A body that fits. */
export const goodBody = JSON.stringify({ points: [{ key: 'a', step: 1, value: 1 }] })
