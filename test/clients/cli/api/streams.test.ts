import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { createApi } from '../../../../clients/cli/api/client.ts'
import { followStream, type SseEvent, sseParser } from '../../../../clients/cli/api/streams.ts'
import { exitCode, Failure } from '../../../../clients/cli/program/failure.ts'

const stream =
  'retry: 10\n\n: hello\nid: 1\nevent: log\ndata: {"a":1}\n\nid: 2\r\ndata: line\r\ndata:  two\r\n\r\ndata\n\nevent: eof\ndata: é漢\n\n'
const parsed: SseEvent[] = [
  { id: '1', event: 'log', data: '{"a":1}' },
  { id: '2', event: 'message', data: 'line\n two' },
  { id: '2', event: 'message', data: '' },
  { id: '2', event: 'eof', data: 'é漢' },
]

test('events are read from pieces cut anywhere', t => {
  const cuts = fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 12 })
  fc.assert(
    fc.property(cuts, points => {
      const parser = sseParser()
      const edges = [0, ...points.sort((a, b) => a - b), stream.length]
      const events = edges.slice(1).flatMap((end, at) => parser.push(stream.slice(edges[at], end)))
      t.deepEqual(events, parsed)
      t.is(parser.retryMs(), 10)
    }),
  )
})

/** A server that sends the numbers up to 200 as events and breaks the connection as configured. */
async function breakingServer(
  t: ExecutionContext,
  answer: (
    from: number,
    connection: number,
    response: ServerResponse,
    request: IncomingMessage,
  ) => void,
) {
  let connections = 0
  const server = createServer((request, response) => {
    connections += 1
    const from = Number(request.headers['last-event-id'] ?? 0)
    answer(from, connections, response, request)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const api = createApi({
    host: `http://127.0.0.1:${port}`,
    token: null,
    userAgent: 'test',
    onSlow: () => {},
  })
  const open = (id: string | null, signal: AbortSignal) =>
    api.open('/', id === null ? {} : { 'last-event-id': id }, signal)
  return { open, connections: () => connections }
}

async function all(events: AsyncIterable<SseEvent>): Promise<SseEvent[]> {
  const found: SseEvent[] = []
  for await (const event of events) found.push(event)
  return found
}

const begin = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 5\n\n')
const numbered = (id: number) => `id: ${id}\nevent: log\ndata: ${id}\n\n`

test('a stream that is cut repeatedly arrives complete, each event once', async t => {
  const last = 200
  const { open, connections } = await breakingServer(t, (from, connection, response) => {
    if (connection % 3 === 0) return void response.writeHead(503).end()
    begin(response)
    for (let id = from + 1; id <= Math.min(from + 7, last); id++) response.write(numbered(id))
    // Half an event, which must not count.
    if (from + 7 < last)
      return void response.write('id: 9999\nevent: log\ndata: ha', () => response.destroy())
    response.end(`id: ${last}.eof\nevent: eof\ndata: {}\n\n`)
  })
  const gaps: (string | null)[] = []
  const seen: string[] = []
  const signal = new AbortController().signal
  const onGap = (reason: string | null) => gaps.push(reason)
  for await (const event of followStream({ open, signal, onGap, maxWaitMs: 20 }))
    if (event.event === 'log') seen.push(event.data)
  t.deepEqual(
    seen,
    Array.from({ length: last }, (_, at) => String(at + 1)),
  )
  t.true(connections() > 20)
  t.true(gaps.some(reason => reason !== null))
})

test('a stream that falls silent is reopened', async t => {
  const { open } = await breakingServer(t, (_from, connection, response) => {
    begin(response)
    // On a busy machine the second may be too late as well.
    if (connection >= 2) response.end(`id: 1\nevent: eof\ndata: {}\n\n`)
  })
  const gaps: (string | null)[] = []
  const options = { open, signal: new AbortController().signal, silenceMs: 50, maxWaitMs: 20 }
  const events = await all(followStream({ ...options, onGap: gap => gaps.push(gap) }))
  t.deepEqual(
    events.map(event => event.event),
    ['eof'],
  )
  t.regex(String(gaps.find(gap => gap !== null)), /nothing arrived for 0.05 s/)
})

test('a 204 ends the stream, a refusal is thrown', async t => {
  const over = await breakingServer(
    t,
    (_from, _connection, response) => void response.writeHead(204).end(),
  )
  const signal = new AbortController().signal
  t.deepEqual(await all(followStream({ open: over.open, signal })), [])

  const refusing = await breakingServer(t, (_from, _connection, response) => {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"detail": "No such run: x"}')
  })
  const failure = await t.throwsAsync(all(followStream({ open: refusing.open, signal })))
  t.true(failure instanceof Failure)
  t.is((failure as Failure).exitCode, exitCode.refused)
  t.is(failure?.message, 'No such run: x')
})

test('leaving ends the stream at once', async t => {
  const leaving = new AbortController()
  const { open } = await breakingServer(t, (_from, _connection, response) => {
    begin(response)
    response.write(numbered(1))
  })
  const events: SseEvent[] = []
  for await (const event of followStream({ open, signal: leaving.signal })) {
    events.push(event)
    leaving.abort()
  }
  t.is(events.length, 1)
})
