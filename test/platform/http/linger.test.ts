import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { listen } from '../../../platform/http/server.ts'
import { openStage } from '../../gateway/stage.ts'
import { say, serveEngine } from '../../servers/engine.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { startEcho } from './echo.ts'

const mebibyte = 'x'.repeat(1024 * 1024)
const asChunk = `${mebibyte.length.toString(16)}\r\n${mebibyte}\r\n`
/** How many mebibytes are sent: more than anything between the two sides can hold. */
const count = 96

type Upload = { head: string[]; piece: string; end: string }
const announced: Upload = {
  head: [`Content-Length: ${count * mebibyte.length}`],
  piece: mebibyte,
  end: '',
}
const chunked: Upload = {
  head: ['Transfer-Encoding: chunked'],
  piece: asChunk,
  end: '0\r\n\r\n',
}

/** Sends a whole body before it reads anything, as many clients do, and returns the response. */
async function sendFirst(port: number, path: string, { head, piece, end }: Upload) {
  const socket = connect(port, '127.0.0.1').pause()
  let reply = ''
  let fault = ''
  socket.on('error', error => {
    fault = error.message
  })
  const closed = once(socket, 'close')
  const first = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json']
  socket.write(`${[...first, ...head].join('\r\n')}\r\n\r\n`)
  for (let n = 0; n < count && fault === ''; n++)
    await new Promise(resolve => socket.write(piece, resolve))
  socket.on('data', chunk => {
    reply += chunk
  })
  socket.resume().end(end)
  await closed
  return fault || reply
}

/** The servers of Forge in each state in which they refuse a request before its body has arrived. */
const servers: Record<string, (t: ExecutionContext) => Promise<Target>> = {
  async 'a route whose limit it exceeds'(t) {
    const { port } = await startEcho(t)
    return { port, path: '/api/echo/a', status: 413 }
  },
  async 'no such route'(t) {
    const { port } = await startEcho(t)
    return { port, path: '/api/nothing', more: ['Connection: close'], status: 404 }
  },
  async 'a head that is too large'(t) {
    const { port } = await startEcho(t)
    return { port, path: '/api/echo/a', more: [`X-Long: ${'x'.repeat(17_000)}`], status: 431 }
  },
  async 'a head that is not HTTP'(t) {
    const { port } = await startEcho(t)
    return { port, path: '/api/echo/a', more: ['no header'], status: 400 }
  },
  async 'a server that is starting'(t) {
    const server = await listen('127.0.0.1', 0)
    t.teardown(() => server.close())
    return { port: server.port, path: '/api/echo/a', more: ['Connection: close'], status: 503 }
  },
  async 'a deployment whose limit it exceeds'(t) {
    const { port, tables } = await openStage(t)
    const url = await serveEngine(t, say('ok'))
    await tables.deploy('dep_a', 'rev_a', [url], { max_body_bytes: 1_000 })
    const { token } = await tables.token('dep_a')
    const more = [`Authorization: Bearer ${token}`]
    return { port, path: '/inference/dep_a/v1/x', more, status: 413 }
  },
  async 'a deployment without a token'(t) {
    const { port, tables } = await openStage(t)
    await tables.deploy('dep_a', 'rev_a', [await serveEngine(t, say('ok'))])
    return { port, path: '/inference/dep_a/v1/x', status: 401 }
  },
}
type Target = { port: number; path: string; more?: string[]; status: number }

for (const [what, start] of Object.entries(servers))
  for (const [how, upload] of Object.entries({ announced, chunked }))
    test.serial(
      `a client that sends 96 MB first reads why it was refused: ${what}, ${how}`,
      async t => {
        t.timeout(patient(60_000))
        const { port, path, more = [], status } = await start(t)
        const reply = await sendFirst(port, path, { ...upload, head: [...upload.head, ...more] })
        t.regex(reply, new RegExp(`^HTTP/1\\.1 ${status} `))
        t.regex(reply, /connection: close/i)
        t.is(reply.match(/^HTTP\/1\.1 \d/gm)?.length, 1, 'the rest is not read as another request')
      },
    )

test('a refused client that falls silent is cut off', async t => {
  t.timeout(patient(60_000))
  const { port } = await startEcho(t)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.write(
    'POST /api/echo/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 90000000\r\n\r\n{',
  )
  const [reply] = (await once(socket, 'data')) as [Buffer]
  t.regex(reply.toString(), /^HTTP\/1\.1 413 /)
  socket.on('error', () => {}).resume()
  // The server's side has ended with the response; that it also reads no more shows only when something is sent.
  const look = () => {
    if (!socket.destroyed) socket.write(' ')
    return socket.destroyed
  }
  await until('the server reads no more', 30_000, look, 6_000)
  t.true(socket.destroyed)
})

test('fetch shows 413 for every large body, announced or not', async t => {
  const { url } = await startEcho(t)
  const body = '1'.repeat(10_000_000)
  for (let n = 0; n < 20; n++) {
    const streamed = n % 2 === 1
    const response = await fetch(`${url}/api/echo/a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: streamed ? new Blob([body]).stream() : body,
      duplex: 'half',
    } as RequestInit)
    t.is(response.status, 413)
    t.like(await response.json(), { code: 'too_large' })
  }
})
