import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, request } from 'node:http'
import test from 'ava'
import { freePort } from '../../platform/free-port.ts'
import { say, serveEngine } from '../servers/engine.ts'
import { patient } from '../servers/patience.ts'
import { until, untilSettled } from '../servers/until.ts'
import { connectRaw } from './raw-connection.ts'
import { openStage, type Stage } from './stage.ts'

type Told = { code: string; detail: string; request_id: string; error: { code: string } }

async function told(stage: Stage, path: string, token: string, init: RequestInit = {}) {
  const headers: HeadersInit = token === '' ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${stage.url}${path}`, { ...init, headers })
  const text = await response.text()
  return { response, text, status: response.status, told: () => JSON.parse(text) as Told }
}

test('each refusal has its status, in the order of what a caller may learn', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const { tables } = stage
  const url = await serveEngine(t, say('ok'))
  await tables.deploy('dep_a', 'rev_a', [url], { max_body_bytes: 1_000 })
  await tables.deploy('dep_b', 'rev_b', [url])
  await tables.deploy('dep_none', 'rev_none', [])
  const a = await tables.token('dep_a')
  const b = await tables.token('dep_b')
  const none = await tables.token('dep_none')
  const at = '/inference/dep_a/v1/chat'
  t.is((await told(stage, at, a.token)).text, 'ok')
  for (const wrong of ['', 'nonsense', b.token, `${a.token}x`, a.token.toLowerCase()]) {
    const refused = await told(stage, at, wrong)
    t.is(refused.status, 401)
    t.is(refused.response.headers.get('www-authenticate'), 'Bearer')
    t.is(refused.told().error.code, 'invalid_token')
    t.is(refused.told().request_id, String(refused.response.headers.get('x-request-id')))
  }
  t.is((await told(stage, '/inference/dep_x/v1/chat', a.token)).told().code, 'deployment_not_found')
  t.is((await told(stage, '/inference/dep_a/v2/chat', a.token)).told().code, 'not_found')
  const empty = await told(stage, '/inference/dep_none/v1/chat', none.token)
  t.is(empty.told().code, 'no_ready_revision')
  t.true(Number(empty.response.headers.get('retry-after')) > 0)
  const large = { method: 'POST', body: 'x'.repeat(1_001) }
  t.is((await told(stage, at, a.token, large)).status, 413)
  t.is((await told(stage, at, a.token, { ...large, body: 'x'.repeat(1_000) })).status, 200)
  await tables.setState('dep_a', 'suspended')
  t.is((await told(stage, at, a.token)).told().code, 'deployment_suspended')
  await tables.setState('dep_a', 'deleted')
  t.is((await told(stage, at, a.token)).status, 404)
  await tables.revoke(b.token_id)
  t.is((await told(stage, '/inference/dep_b/v1/x', b.token)).status, 401)
})

test('requests beyond the limit get 503 with Retry-After', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const held = Promise.withResolvers<void>()
  const url = await serveEngine(t, (_, res) => void held.promise.then(() => res.end('late')))
  await stage.tables.deploy('dep_a', 'rev_a', [url], { max_concurrency: 1 })
  const { token } = await stage.tables.token('dep_a')
  const first = told(stage, '/inference/dep_a/v1/x', token)
  const refused = await until('another one is refused', 10_000, async () => {
    const asked = await Promise.race([told(stage, '/inference/dep_a/v1/x', token), first])
    return asked.status === 503 && asked
  })
  t.is(refused.told().code, 'too_many_requests')
  held.resolve()
  t.is((await first).text, 'late')
})

test('an engine that accepts no connection is skipped, and the next one gets the body', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const url = await serveEngine(t, (req, res) => void req.pipe(res))
  const gone = () => freePort().then(port => `http://127.0.0.1:${port}`)
  await stage.tables.deploy('dep_a', 'rev_a', [await gone(), url, await gone()])
  await stage.tables.deploy('dep_b', 'rev_b', [await gone()])
  const a = await stage.tables.token('dep_a')
  const b = await stage.tables.token('dep_b')
  for (let times = 0; times < 6; times++) {
    const body = `again ${times}`
    t.is((await told(stage, '/inference/dep_a/v1/x', a.token, { method: 'POST', body })).text, body)
  }
  t.is((await told(stage, '/inference/dep_b/v1/x', b.token)).told().code, 'engine_unreachable')
})

test('a request that an engine may have seen is never sent again', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  let asked = 0
  const breaks: RequestListener = req => {
    asked++
    req.socket.destroy()
  }
  const urls = [await serveEngine(t, breaks), await serveEngine(t, breaks)]
  await stage.tables.deploy('dep_a', 'rev_a', urls)
  const { token } = await stage.tables.token('dep_a')
  const body = { method: 'POST', body: 'once' }
  t.is((await told(stage, '/inference/dep_a/v1/x', token, body)).status, 502)
  t.is(asked, 1)
})

test('a caller who goes away ends the request at the engine', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  let openAtEngine = 0
  const url = await serveEngine(t, (_, res) => {
    openAtEngine++
    res.once('close', () => openAtEngine--)
    res.write('data: 1\n\n')
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  await fetch(`${stage.url}/inference/dep_a/v1/x`, { headers, signal: leaving.signal })
  t.is(openAtEngine, 1)
  leaving.abort()
  await until('the engine notices', 10_000, () => openAtEngine === 0)
  await stage.idle()
  t.like(stage.rows[0], { aborted: true, error_source: 'client', status: 200 })
})

test('a stream ends with the revocation of its token, and outlives a promotion', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const url = await serveEngine(t, (_, res) => void res.write('data: 1\n\n'))
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const kept = await stage.tables.token('dep_a')
  const revoked = await stage.tables.token('dep_a')
  const open = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const { body } = await fetch(`${stage.url}/inference/dep_a/v1/x`, { headers })
    const reader = body?.getReader()
    if (!reader) throw new Error('no stream')
    await reader.read()
    const ended = reader.read().then(
      () => 'ended',
      () => 'cut',
    )
    return { ended }
  }
  const stays = await open(kept.token)
  const goes = await open(revoked.token)
  await stage.tables.deploy('dep_a', 'rev_b', [await serveEngine(t, say('new'))])
  await stage.tables.revoke(revoked.token_id)
  t.is(await untilSettled('the stream ends', 20_000, goes.ended), 'cut')
  t.is((await told(stage, '/inference/dep_a/v1/x', kept.token)).text, 'new')
  t.is(await Promise.race([stays.ended, Promise.resolve('open')]), 'open')
})

// Alone and before the others, whose times it would take: engine, gateway and caller are this process.
test.serial('the engine sends no faster than the caller reads', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const piece = Buffer.alloc(64 * 1024)
  let sent = 0
  let isFull = false
  const url = await serveEngine(t, (_, res) => {
    const more = () => {
      isFull = false
      while (sent < 256 * 1024 * 1024 && !isFull) {
        isFull = !res.write(piece)
        sent += piece.length
      }
      if (!isFull) res.end()
    }
    res.on('drain', more)
    more()
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const headers = { authorization: `Bearer ${token}` }
  const asking = request(`${stage.url}/inference/dep_a/v1/x`, { headers }).end()
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  let last = -1
  // Both ends stand still once everything between them is full.
  await until(
    'nothing moves any more',
    20_000,
    () => {
      const stands = sent > 0 && sent === last
      last = sent
      return stands
    },
    500,
  )
  t.true(sent < 64 * 1024 * 1024, `${sent} bytes left the engine`)
  let read = 0
  for await (const chunk of response) read += (chunk as Buffer).length
  t.is(read, 256 * 1024 * 1024)
})

test('a response before the body was read leaves a usable connection', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  // Refuses a large body without reading it, as engines do.
  const url = await serveEngine(t, (req, res) => {
    if (Number(req.headers['content-length'] ?? 0) < 100_000) say('small')(req, res)
    else res.writeHead(400, { 'content-length': 5 }).end('large')
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const head = (length: number) =>
    `POST /inference/dep_a/v1/x HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${length}\r\n\r\n`
  const { socket, reply, isClosed } = connectRaw(stage.port)
  socket.write(head(8_000_000))
  socket.write(Buffer.alloc(8_000_000, 'x'))
  socket.write(`${head(2)}hi`)
  await until('the first answer', 10_000, () => reply().includes('large'))
  await until('the second, or the end', 10_000, () => isClosed() || reply().includes('small'))
  t.regex(reply(), /^HTTP\/1\.1 400/)
  socket.destroy()
})

test('no caller is served without the database, and every caller again afterwards', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  await stage.tables.deploy('dep_a', 'rev_a', [await serveEngine(t, say('ok'))])
  const { token } = await stage.tables.token('dep_a')
  const ask = () => told(stage, '/inference/dep_a/v1/x', token)
  t.is((await ask()).status, 200)
  await stage.pool.query('alter table write.serving_epoch rename to away')
  const refused = await ask()
  t.is(refused.status, 503)
  t.truthy(refused.response.headers.get('retry-after'))
  await stage.pool.query('alter table write.away rename to serving_epoch')
  t.is((await ask()).status, 200)
})
