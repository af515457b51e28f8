import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { Type } from 'typebox'
import { openApi } from '../../../platform/http/openapi.ts'
import type { HttpRoute } from '../../../platform/http/route.ts'
import { closed } from '../../../schemas/shared.ts'
import { goodBody, routes, startEcho } from './echo.ts'

test('a goodBody body reaches the handler with defaults and coerced query filled in', async t => {
  const { url } = await startEcho(t)
  const response = await fetch(`${url}/api/echo/x?limit=7`, {
    method: 'POST',
    body: goodBody,
    headers: { 'content-type': 'application/json' },
  })
  t.is(response.status, 200)
  t.deepEqual(await response.json(), {
    body: JSON.parse(goodBody),
    params: { name: 'x' },
    query: { limit: 7 },
  })
  t.truthy(response.headers.get('x-request-id'))
})

test('a head past 16 KiB is refused with 431, in the shape of all refusals', async t => {
  const { url } = await startEcho(t)
  const response = await fetch(`${url}/api/echo/x?note=${'a'.repeat(20_000)}`)
  t.is(response.status, 431)
  t.truthy(response.headers.get('x-request-id'))
  t.regex(String(response.headers.get('content-security-policy')), /frame-ancestors 'none'/)
  t.regex(((await response.json()) as { detail: string }).detail, /16 KiB/)
})

test('a path without parameters allows the methods of its own route only', async t => {
  const { url } = await startEcho(t)
  const response = await fetch(`${url}/api/echo/self`, { method: 'DELETE' })
  t.is(response.status, 405)
  t.is(response.headers.get('allow'), 'HEAD, GET')
})

const plain = {
  info: { title: 'Echo', version: '0', description: 'Says what it is told.' },
  server: '/',
  securitySchemes: {},
  securityOf: () => [],
  refusalsOfStrangers: () => [],
  describe: () => 'Says what it is told.',
  exampleOf: () => ({ parameters: {} }),
  refusalFields: {},
  statusOfFaults: () => 400,
}

test('the document shows optional fields, tuples in current notation, and each media type', t => {
  const described: HttpRoute<null> = {
    method: 'POST',
    path: '/api/described',
    tag: 'test',
    summary: 'Is described',
    body: closed({ name: Type.String(), size: Type.Integer({ default: 1 }) }),
    response: Type.Object({ pair: Type.Tuple([Type.Integer(), Type.String()]) }),
    handle: async () => ({}),
  }
  const paths = openApi([described, ...routes], plain).paths as Record<string, Operations>
  const { post } = paths['/api/described'] ?? {}
  t.deepEqual(post?.requestBody.content['application/json']?.schema.required, ['name'])
  t.deepEqual(post?.responses[200]?.content['application/json']?.schema.properties.pair, {
    type: 'array',
    prefixItems: [{ type: 'integer' }, { type: 'string' }],
    minItems: 2,
    maxItems: 2,
  })
  t.true(400 in (post?.responses ?? {}))
  t.false(422 in (post?.responses ?? {}))
  t.deepEqual(Object.keys(paths['/api/echo/self']?.get?.responses[200]?.content ?? {}), [
    'text/csv',
    'text/plain',
  ])
})

type Content = Record<
  string,
  { schema: { required: string[]; properties: Record<string, unknown> } }
>
type Operations = Record<
  string,
  { requestBody: { content: Content }; responses: Record<number, { content: Content }> }
>

test('a query text that reads as an infinite number fits no integer', async t => {
  const { url } = await startEcho(t)
  for (const limit of ['Infinity', '-Infinity', '1e999', '9'.repeat(400)]) {
    const response = await fetch(`${url}/api/echo/Infinity?limit=${limit}&huh=1`, {
      method: 'POST',
      body: goodBody,
      headers: { 'content-type': 'application/json' },
    })
    t.is(response.status, 422, limit)
    const { detail } = (await response.json()) as { detail: { loc: string[]; type: string }[] }
    t.deepEqual(
      detail.map(({ loc, type }) => [...loc, type].join(' ')).sort(),
      ['query huh extra_forbidden', 'query limit int_type'],
      limit,
    )
  }
})

test('U+0000 in the path or the query is refused with its place', async t => {
  const { url } = await startEcho(t)
  for (const [address, loc] of [
    ['/api/echo/a%00b', ['path', 'name']],
    ['/api/echo/a?note=%00', ['query', 'note']],
  ] as const) {
    const response = await fetch(`${url}${address}`, {
      method: 'POST',
      body: goodBody,
      headers: { 'content-type': 'application/json' },
    })
    t.is(response.status, 422)
    const { detail } = (await response.json()) as { detail: { loc: unknown }[] }
    t.deepEqual(detail[0]?.loc, loc)
  }
})

test('a query that is not UTF-8 is 400, not replaced', async t => {
  const { url } = await startEcho(t)
  const ask = async (query: string) =>
    (
      await fetch(`${url}/api/echo/a?${query}`, {
        method: 'POST',
        body: goodBody,
        headers: { 'content-type': 'application/json' },
      })
    ).status
  t.is(await ask('huh=caf%E9'), 400)
  t.is(await ask('huh=caf%C3%A9'), 422, 'only the field is unknown')
  t.is(await ask('huh=%EF%BF%BD'), 422)
  t.is(await ask('limit=7'), 200)
})

test('an unparsable address is 400, not 500, wherever the path is read', async t => {
  const paths: string[] = []
  const { url } = await startEcho(t, [], {
    async rephrase(ctx, next) {
      await next()
      paths.push(ctx.path)
    },
  })
  for (const address of ['http://[', 'http://[/api/refused']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`GET ${address} HTTP/1.1\r\nHost: forge\r\nConnection: close\r\n\r\n`)
    t.regex(await text(socket), /^HTTP\/1\.1 400 .*"detail"/s)
  }
  t.deepEqual(paths, ['/', '/'])
})

test('an unknown path is 404, a wrong method 405 with Allow', async t => {
  const { url } = await startEcho(t)
  t.is((await fetch(`${url}/api/nothing`)).status, 404)
  const wrong = await fetch(`${url}/api/echo/a`)
  t.is(wrong.status, 405)
  t.is(wrong.headers.get('allow'), 'POST')
  t.is(typeof (await wrong.json()).detail, 'string')
})

test('TRACE is refused, and echoes nothing of the request', async t => {
  const { url } = await startEcho(t)
  for (const [path, status] of [
    ['/api/echo/self', 405],
    ['/api/nothing', 404],
  ] as const) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.end(
      `TRACE ${path} HTTP/1.1\r\nHost: forge\r\nCookie: forge_refresh=secret\r\nConnection: close\r\n\r\n`,
    )
    const answer = await text(socket)
    t.regex(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    t.notRegex(answer, /secret/)
  }
})

test('a request whose Host or credential is ambiguous is refused, and ends its connection', async t => {
  const { port } = await startEcho(t)
  for (const name of ['Host', 'Authorization', 'Origin', 'Content-Type', 'X-Service-Token']) {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    const host = name === 'Host' ? '' : 'Host: x\r\n'
    const twice = `${name}: a/b\r\n${name.toUpperCase()}: a/c\r\n`
    const next = 'GET /api/none HTTP/1.1\r\nHost: x\r\n\r\n'
    socket.write(`GET /api/none HTTP/1.1\r\n${host}${twice}\r\n${next}`)
    const response = await text(socket)
    t.regex(response, /^HTTP\/1\.1 400 /, name)
    t.true(response.includes(`"The header ${name.toLowerCase()} is sent more than once"`))
    t.is(response.match(/HTTP\/1\.1 /g)?.length, 1, name)
  }
})

test('paths are case-sensitive, with parameters and without', async t => {
  const { url } = await startEcho(t)
  for (const [path, method] of [
    ['/api/Echo/a', 'POST'],
    ['/API/refused', 'GET'],
  ] as const)
    t.is((await fetch(`${url}${path}`, { method })).status, 404, path)
})

test('a defect is 500 without its text; a refusal carries its extras', async t => {
  const { url } = await startEcho(t)
  const defect = await fetch(`${url}/api/broken`)
  t.is(defect.status, 500)
  t.false((await defect.text()).includes('secret detail'))
  const refused = await fetch(`${url}/api/refused`)
  t.is(refused.status, 429)
  t.is(refused.headers.get('retry-after'), '7')
  t.like(await refused.json(), { detail: 'slowly', code: 'x.y', data: { n: 1 } })
})

test('a query out of its bounds is 422 at its place', async t => {
  const { url } = await startEcho(t)
  const headers = { 'content-type': 'application/json' }
  for (const query of [
    'limit=0',
    'limit=501',
    'limit=x',
    'limit=1.5',
    'huh=1',
    'limit=1&limit=2',
  ]) {
    const response = await fetch(`${url}/api/echo/a?${query}`, {
      method: 'POST',
      body: goodBody,
      headers,
    })
    t.is(response.status, 422, query)
    t.is((await response.json()).detail[0].loc[0], 'query')
  }
})
