import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import type { HttpRoute } from '../../../platform/http/route.ts'
import { startForgeProcess } from '../../servers/forge.ts'
import { until, untilSettled } from '../../servers/until.ts'
import { type EchoCaller, goodBody, startEcho } from './echo.ts'

/** Long enough that nothing is cut by a timeout: a stop that waits for that does not end. */
const drainMs = 3_600_000

/** A connection for which the test decides when it sends and reads. */
async function openConnection(t: ExecutionContext, port: number) {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  let said = ''
  const read = () =>
    socket.setEncoding('utf8').on('data', text => {
      said += text
    })
  const closed = new Promise(resolve => socket.once('close', resolve))
  return { socket, read, said: () => said, closed }
}

async function stops(t: ExecutionContext, stop: Promise<unknown>): Promise<void> {
  await t.notThrowsAsync(untilSettled('the stop ends', 30_000, stop))
}

const head = 'POST /api/echo/a HTTP/1.1\r\nHost: forge\r\nContent-Type: application/json\r\n'
const whole = 'GET /api/echo/self HTTP/1.1\r\nHost: forge\r\n\r\n'

test('idle connections do not prevent the server from stopping', async t => {
  const { port, close } = await startEcho(t)
  const { closed, read } = await openConnection(t, port)
  read()
  await stops(t, close(drainMs))
  await closed
})

for (const [what, sent] of [
  ['a body', `${head}Content-Length: 1000\r\n\r\n{"points": `],
  ['a compressed body', `${head}Content-Encoding: zstd\r\nContent-Length: 1000\r\n\r\n`],
  ['a head', head],
  ['a second head', `${whole}${head}`],
] as const)
  test(`${what} that has not fully arrived when the server stops gets 503`, async t => {
    const { port, close, post } = await startEcho(t)
    const { socket, said, closed, read } = await openConnection(t, port)
    read()
    socket.write(sent)
    // By the time of this response, the server has read the other connection too.
    await post(goodBody)
    await stops(t, close(drainMs))
    await closed
    t.regex(said(), /HTTP\/1\.1 503 .*Retry-After: 2.*not arrived in full; send it again/s)
  })

test('a body that arrives within a second after the stop is served', async t => {
  const { port, close, post } = await startEcho(t)
  const { socket, said, closed, read } = await openConnection(t, port)
  read()
  socket.write(`${head}Content-Length: ${goodBody.length}\r\n\r\n${goodBody.slice(0, 10)}`)
  await post(goodBody)
  const closing = stops(t, close(drainMs))
  socket.write(goodBody.slice(10))
  await Promise.all([closing, closed])
  t.regex(said(), /HTTP\/1\.1 200 /)
})

const chunk = Buffer.alloc(1024 * 1024, 'x')
const chunks = 32

/** More than sockets buffer: handed over at once, or piece by piece as the reader consumes it. */
const books = (['whole', 'piecewise'] as const).map(
  (name): HttpRoute<EchoCaller> => ({
    method: 'GET',
    path: `/api/books/${name}`,
    tag: 'test',
    summary: 'A long text',
    response: { mediaType: 'text/plain', description: 'Much' },
    async handle({ ctx }) {
      const pieces = Array.from({ length: chunks }, () => chunk)
      ctx.body = name === 'whole' ? Buffer.concat(pieces) : Readable.from(pieces)
    },
  }),
)

for (const { path } of books) {
  const request = `GET ${path} HTTP/1.1\r\nHost: forge\r\n\r\n`

  test(`a client that reads nothing of ${path} does not delay the stop`, async t => {
    const { port, close } = await startEcho(t, books)
    const { socket } = await openConnection(t, port)
    socket.write(request)
    await until('the answer has begun', 10_000, () => socket.readableLength > 0)
    await stops(t, close(drainMs))
  })

  test(`a client that is reading ${path} gets all of it during the stop`, async t => {
    const { port, close } = await startEcho(t, books)
    const { socket, closed } = await openConnection(t, port)
    socket.write(request)
    await until('the answer has begun', 10_000, () => socket.readableLength > 0)
    const closing = stops(t, close(drainMs))
    let length = 0
    socket.on('data', text => {
      length += text.length
    })
    await Promise.all([closing, closed])
    t.true(length > chunks * chunk.length, `${length} bytes`)
  })
}

test('a whole server stops with exit code 0 despite clients of all these kinds', async t => {
  const forge = await startForgeProcess(t)
  const { body: run } = await forge.call<{ run_id: string; token: string }>('POST', '/api/runs', {
    body: { project: 'demo' },
  })
  const lines = Array.from({ length: 15 }, () => 'x'.repeat(60_000))
  for (let call = 0; call < 10; call++)
    await forge.call('POST', '/api/ingest/logs', {
      token: run.token,
      body: { run_id: run.run_id, chunks: lines },
    })
  const port = Number(new URL(forge.url).port)
  const send = async (text: string) => {
    const opened = await openConnection(t, port)
    opened.socket.write(text)
    return opened
  }
  await send('')
  const unarrived = [
    await send('GET /healthz HTTP/1.1\r\n'),
    await send(
      'POST /api/auth/login HTTP/1.1\r\nHost: forge\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    ),
  ]
  for (const { read } of unarrived) read()
  const { socket: stream } = await send(
    `GET /api/runs/${run.run_id}/logs/stream HTTP/1.1\r\nHost: forge\r\nAuthorization: Bearer ${forge.token}\r\n\r\n`,
  )
  await until('the stream has begun', 10_000, () => stream.readableLength > 0)
  t.is(await forge.stop(), 0)
  await Promise.all(unarrived.map(({ closed }) => closed))
  // Had the stop waited until all is cut, they would have been cut without a word.
  for (const { said } of unarrived) t.regex(said(), /HTTP\/1\.1 503 .*not arrived in full/s)
})
