import { request } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { say, serveEngine } from '../servers/engine.ts'
import { openStage, type Stage } from './stage.ts'

const app = 'https://app.example'

/** Sets a header that `fetch` forbids, such as `Origin`, and returns the headers of the response. */
const ask = (url: string, method: string, headers: Record<string, string | string[]>) =>
  new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>(
    (resolve, reject) => {
      const sent = request(url, { method, headers }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', part => {
          body += part
        })
        response.on('end', () => {
          const status = response.statusCode ?? 0
          resolve({ status, headers: response.headers, body })
        })
      })
      sent.on('error', reject)
      sent.end()
    },
  )

const preflight = (url: string, origin: string, names = 'authorization,x-stainless-lang') =>
  ask(url, 'OPTIONS', {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': names,
  })

const corsIn = (headers: NodeJS.Dict<string | string[]>) =>
  Object.keys(headers).filter(name => name.startsWith('access-control-'))

/** An engine that allows every page to call it, as vLLM does. */
const openEngine = (t: ExecutionContext) =>
  serveEngine(t, (req, res) => {
    req.resume()
    res.writeHead(req.url?.endsWith('/busy') ? 429 : 200, {
      ...{ 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' },
      vary: 'Accept',
    })
    res.end('said')
  })

async function deployment(
  stage: Stage,
  id: string,
  engine: string,
  allowed_origins: readonly string[],
): Promise<{ url: string; token: string }> {
  await stage.tables.deploy(id, `rev_${id}`, [engine])
  await stage.tables.allow(id, allowed_origins)
  const { token } = await stage.tables.token(id)
  return { url: `${stage.url}/inference/${id}/v1/chat/completions`, token }
}

test('the gateway itself allows a preflight of an allowed origin, without a token', async t => {
  const stage = await openStage(t)
  const asked: string[] = []
  const engine = await serveEngine(t, (req, res) => {
    asked.push(req.method ?? '')
    say('')(req, res)
  })
  const { url } = await deployment(stage, 'dep_a', engine, [app, 'http://localhost:3000'])
  const { status, headers, body } = await preflight(url, app)
  t.is(status, 204)
  t.is(body, '')
  t.like(headers, {
    'access-control-allow-origin': app,
    'access-control-allow-headers': 'authorization,x-stainless-lang',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Headers',
  })
  t.is(headers['access-control-allow-credentials'], undefined)
  t.is((await preflight(url, 'http://localhost:3000')).status, 204)
  const odd = await preflight(url, app, 'a b, "c"')
  t.is(odd.headers['access-control-allow-headers'], 'Authorization, Content-Type')
  const long = await preflight(url, app, 'x'.repeat(5000))
  t.is(long.headers['access-control-allow-headers'], 'Authorization, Content-Type')
  t.deepEqual(asked, [])
  t.deepEqual(stage.rows, [], 'a preflight is no traffic')
})

test('a preflight is refused alike for other origins, without allowed ones, and for no deployment', async t => {
  const stage = await openStage(t)
  const engine = await openEngine(t)
  const some = await deployment(stage, 'dep_a', engine, [app])
  const none = await deployment(stage, 'dep_b', engine, [])
  const { url } = await deployment(stage, 'dep_c', engine, ['*'])
  await stage.tables.setState('dep_c', 'deleted')
  const missing = `${stage.url}/inference/dep_none/v1/models`
  for (const [where, origin] of [
    ...[`${app}:444`, 'http://app.example', 'null', 'https://app.example.evil'].map(
      other => [some.url, other] as const,
    ),
    ...([none.url, missing, url, `${stage.url}/inference/pls_1/v1/models`] as const).map(
      one => [one, app] as const,
    ),
  ]) {
    const { status, headers, body } = await preflight(where, origin)
    t.is(status, 403, `${where} ${origin}`)
    t.deepEqual(corsIn(headers), [])
    const { request_id: _, ...said } = JSON.parse(body)
    t.like(said, { code: 'origin_not_allowed' })
  }
})

test('responses and refusals name the origin that may read them; the engine does not decide', async t => {
  const stage = await openStage(t)
  const { url, token } = await deployment(stage, 'dep_a', await openEngine(t), [app])
  const authorization = `Bearer ${token}`
  const cases: [number, string, Record<string, string>][] = [
    [200, url, { authorization }],
    [429, url.replace('chat/completions', 'busy'), { authorization }],
    [401, url, {}],
    [400, url.replace('/chat/', '/%2f/'), { authorization }],
    [404, url.replace('/v1/', '/v2/'), { authorization }],
    [501, url, { authorization, connection: 'upgrade', upgrade: 'websocket' }],
  ]
  const answers = async (origin: string | null) => {
    for (const [status, where, headers] of cases) {
      const said = await ask(where, 'POST', { ...headers, ...(origin !== null && { origin }) })
      t.is(said.status, status, where)
      const isAllowed = origin === app
      t.is(said.headers['access-control-allow-origin'], isAllowed ? app : undefined, where)
      t.is(said.headers['access-control-expose-headers'], isAllowed ? '*' : undefined, where)
      t.is(said.headers['access-control-allow-credentials'], undefined, where)
      t.regex(String(said.headers.vary), /Origin/, where)
    }
  }
  await answers(app)
  await answers('https://other.example')
  await answers(null)
  await stage.tables.setState('dep_a', 'suspended')
  cases.splice(0, cases.length, [503, url, { authorization }])
  await answers(app)
  await answers('https://other.example')
})

test('* allows every origin; without allowed origins no page may read anything', async t => {
  const stage = await openStage(t)
  const engine = await openEngine(t)
  const all = await deployment(stage, 'dep_a', engine, ['*'])
  t.is((await preflight(all.url, 'null')).status, 204)
  const authorization = `Bearer ${all.token}`
  const said = await ask(all.url, 'POST', { authorization, origin: 'https://any.example' })
  t.is(said.headers['access-control-allow-origin'], '*')
  t.is(said.headers.vary, 'Accept')
  const none = await deployment(stage, 'dep_b', engine, [])
  const quiet = await ask(none.url, 'POST', {
    ...{ authorization: `Bearer ${none.token}`, origin: app },
  })
  t.is(quiet.status, 200)
  t.deepEqual(corsIn(quiet.headers), [])
  await stage.tables.allow('dep_b', [app])
  const now = await ask(none.url, 'POST', {
    ...{ authorization: `Bearer ${none.token}`, origin: app },
  })
  t.is(now.headers['access-control-allow-origin'], app, 'the next request knows')
})

test('an OPTIONS request that no browser sent for a page reaches the engine', async t => {
  const stage = await openStage(t)
  const { url, token } = await deployment(stage, 'dep_a', await openEngine(t), [app])
  const said = await ask(url, 'OPTIONS', { authorization: `Bearer ${token}`, origin: app })
  t.is(said.status, 200)
  t.is(said.body, 'said')
})
