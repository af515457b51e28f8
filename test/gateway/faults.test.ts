import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { say, serveEngine } from '../servers/engine.ts'
import { mayStayIdle } from '../servers/lock-waits.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { openStage, type Stage } from './stage.ts'

/** Sends this unchanged; the reply collects in `got`. */
function raw(
  t: ExecutionContext,
  { port }: Stage,
  text: string,
): { socket: Socket; got: () => string } {
  const socket = connect(port, '127.0.0.1')
  let got = ''
  socket.on('data', data => {
    got += data.toString('latin1')
  })
  socket.on('error', () => {})
  socket.write(text)
  t.teardown(() => socket.destroy())
  return { socket, got: () => got }
}

const post = (token: string, more: string, body = '') =>
  `POST /inference/dep_a/v1/x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${more}\r\n\r\n${body}`

const ask = (stage: Stage, token: string) =>
  fetch(`${stage.url}/inference/dep_a/v1/x`, { headers: { authorization: `Bearer ${token}` } })

test('a body that grows too large after the response began ends only that response', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const url = await serveEngine(t, (req, res) => {
    if (req.method === 'GET') res.end('well')
    else res.write('begun')
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url], { max_body_bytes: 1_000 })
  const { token } = await stage.tables.token('dep_a')
  const { socket, got } = raw(t, stage, post(token, 'transfer-encoding: chunked', '3\r\nabc\r\n'))
  await until('the answer begins', 10_000, () => got().includes('begun'))
  const closed = once(socket, 'close')
  socket.write(`${(4_000).toString(16)}\r\n${'x'.repeat(4_000)}\r\n`)
  await closed
  await stage.idle()
  t.like(stage.rows.at(-1), { status: 200, error_source: 'client' })
  t.is(await (await ask(stage, token)).text(), 'well')
})

test('callers who leave while their token is looked up take no place', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  await stage.tables.deploy('dep_a', 'rev_a', [await serveEngine(t, say('ok'))], {
    max_concurrency: 3,
  })
  const { token } = await stage.tables.token('dep_a')
  t.is((await ask(stage, token)).status, 200)
  const holder = await stage.pool.connect()
  await holder.query('begin')
  await mayStayIdle(holder)
  await holder.query('lock table write.serving_epoch in access exclusive mode')
  const callers = Array.from({ length: 10 }, () =>
    raw(t, stage, post(token, 'content-length: 2', '{}')),
  )
  await Promise.all(callers.map(({ socket }) => once(socket, 'connect')))
  // Their data is read in the same turn as their end, or earlier.
  await until('their requests are under way', 10_000, () => stage.underWay() === 10)
  for (const { socket } of callers) socket.destroy()
  await stage.idle()
  await holder.query('commit')
  holder.release()
  await until('they are on record', 10_000, () => stage.rows.length === 11)
  for (const row of stage.rows.slice(1))
    t.like(row, { status: 0, aborted: true, error_source: 'client' })
  const all = await Promise.all([1, 2, 3].map(() => ask(stage, token)))
  t.deepEqual(
    all.map(({ status }) => status),
    [200, 200, 200],
  )
})

test('a response whose reason phrase is not allowed is passed on without it', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const engine = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 404 未找到\r\ncontent-length: 2\r\n\r\nno'))
  })
  engine.listen(0, '127.0.0.1')
  await once(engine, 'listening')
  t.teardown(() => engine.close())
  const { port } = engine.address() as AddressInfo
  await stage.tables.deploy('dep_a', 'rev_a', [`http://127.0.0.1:${port}`])
  const { token } = await stage.tables.token('dep_a')
  const answer = await ask(stage, token)
  t.is(answer.status, 404)
  t.is(await answer.text(), 'no')
  await stage.idle()
  t.like(stage.rows.at(-1), { status: 404, error_source: 'engine' })
})

test('a refused caller that sends its body slowly blocks no other caller', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const held = Promise.withResolvers<void>()
  const url = await serveEngine(t, (_, res) => void held.promise.then(() => res.end('ok')))
  await stage.tables.deploy('dep_a', 'rev_a', [url], { max_concurrency: 1 })
  const { token } = await stage.tables.token('dep_a')
  const first = ask(stage, token)
  await until('the first one is under way', 10_000, () => stage.underWay() === 1)
  const { got } = raw(t, stage, post(token, 'content-length: 1000'))
  await until('another one is refused', 10_000, () => got().includes('too_many_requests'))
  held.resolve()
  t.is((await first).status, 200)
  await (await first).text()
  t.is(
    (await ask(stage, token)).status,
    200,
    'although the refused one has sent no byte of its body',
  )
})

test('tokens that no request can have are not believed', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const usage = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: 7 }
  const url = await serveEngine(t, (req, res) => {
    res.setHeader('content-type', 'application/json')
    req.resume().on('end', () => res.end(JSON.stringify({ usage })))
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  await (await ask(stage, token)).text()
  await stage.idle()
  t.like(stage.rows[0], { prompt_tokens: null, completion_tokens: 7, usage_source: 'engine' })
})
