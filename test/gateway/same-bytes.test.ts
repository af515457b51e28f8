import { createHash, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import test from 'ava'
import { patient } from '../servers/patience.ts'
import { kindOf, type Seen, startMixedEngine } from './mixed-engine.ts'
import { openStage } from './stage.ts'

const count = 1_000
const atOnce = 16

type Reply = { status: number; message: string; headers: string[]; body: string }
type Asking = { method: string; path: string; headers: string[]; body: Buffer; isChunked: boolean }

/** Headers that the gateway may change in a request or a response (docs/operate/gateway.md). */
const ownOfRequests =
  /^(host|connection|authorization|x-request-id|transfer-encoding|content-length)$/i
const ownOfReplies =
  /^(connection|keep-alive|content-security-policy|x-content-type-options|x-request-id|x-forge-revision)$/i

test('a thousand mixed requests and their responses pass byte for byte', async t => {
  t.timeout(patient(120_000))
  const stage = await openStage(t)
  const engine = await startMixedEngine(t)
  await stage.tables.deploy('dep_a', 'rev_1', [engine.url])
  const { token } = await stage.tables.token('dep_a')
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const numbers = Array.from({ length: count }, (_, at) => at)
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let at = numbers.shift(); at !== undefined; at = numbers.shift()) {
        const asked = askingOf(at)
        const straight = await ask(agent, engine.url, `/v1${asked.path}`, asked)
        const seen = engine.seen.get(String(at))
        const through = await ask(agent, stage.url, `/inference/dep_a/v1${asked.path}`, {
          ...asked,
          headers: ['Authorization', `Bearer ${token}`, ...asked.headers],
        })
        t.deepEqual(without(through, ownOfReplies), without(straight, ownOfReplies), `case ${at}`)
        t.deepEqual(
          without(engine.seen.get(String(at)), ownOfRequests),
          without(seen, ownOfRequests),
          `case ${at}`,
        )
      }
    }),
  )
  await stage.idle()
  t.is(stage.rows.length, count)
})

function without<T extends Reply | Seen>(one: T | undefined, names: RegExp) {
  if (!one) throw new Error('nothing arrived')
  const { headers } = one
  const kept = headers.flatMap((name, at) =>
    at % 2 === 0 && !names.test(name) ? [[name, headers[at + 1]]] : [],
  )
  return { ...one, headers: kept }
}

function askingOf(at: number): Asking {
  const method = ['POST', 'GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'][at % 7] ?? 'POST'
  const hasBody = method !== 'GET' && method !== 'OPTIONS'
  const body = hasBody ? randomBytes((at * 7919) % 100_000) : Buffer.alloc(0)
  const path = `/x/${at}?a=%20b&a=${at}&empty=&plus=1+1`
  const isChunked = hasBody && at % 3 === 0
  const length = isChunked
    ? ['Transfer-Encoding', 'chunked']
    : ['Content-Length', String(body.length)]
  const headers = [
    ...[
      'X-Case',
      String(at),
      'x-kind',
      kindOf(at),
      'aCCept',
      '*/*',
      'X-Twice',
      '1',
      'x-twice',
      '2',
    ],
    ...['Content-Type', 'application/json', 'Accept-Encoding', 'gzip', 'OpenAI-Organization', 'o'],
    ...(hasBody ? length : []),
  ]
  return { method, path, headers, body, isChunked }
}

function ask(agent: Agent, url: string, path: string, asked: Asking): Promise<Reply> {
  const { method, headers, body } = asked
  return new Promise((resolve, reject) => {
    const asking = request(`${url}${path}`, { agent, method, headers: ['Host', 'one', ...headers] })
    asking.on('error', (error: NodeJS.ErrnoException) => {
      // Every server closes a connection that was idle for long; on a busy machine that meets the next request.
      if (asking.reusedSocket && error.code === 'ECONNRESET') resolve(ask(agent, url, path, asked))
      else reject(error)
    })
    asking.on('response', response => {
      const digest = createHash('sha256')
      response.on('data', chunk => digest.update(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          message: response.statusMessage ?? '',
          headers: response.rawHeaders,
          body: digest.digest('hex'),
        }),
      )
    })
    asking.end(body)
  })
}
