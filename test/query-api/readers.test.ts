import { connect as connectSocket } from 'node:net'
import test from 'ava'
import { connect, take } from '../servers/events.ts'
import { type Forge, startForge, startForgeProcess } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

const streamOf = (forge: Forge, runId: string, query = '') =>
  `${forge.url}/api/runs/${runId}/logs/stream${query}`

/** The server's resident memory in MiB, from its metrics. */
async function residentMib(forge: Forge): Promise<number> {
  const { body } = await forge.call<string>('GET', '/api/metrics')
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(body)?.[1]) / 2 ** 20
}

test('stalled readers cost no memory, lose nothing, and delay nobody', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const path = `/api/runs/${run.run_id}/logs/stream`
  const { hostname, port } = new URL(forge.url)
  // These send their request and then read nothing from their sockets.
  const lazy = Array.from({ length: 10 }, () => {
    const socket = connectSocket(Number(port), hostname)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${forge.token}\r\n\r\n`)
    socket.pause()
    return socket
  })
  t.teardown(() => {
    for (const socket of lazy) socket.destroy()
  })
  const eager = await connect(streamOf(forge, run.run_id), forge.token)
  const before = await residentMib(forge)
  const line = 'x'.repeat(1000)
  const calls = 40
  const perCall = 900
  for (let call = 0; call < calls; call++)
    await ingest(forge, run, 'logs', {
      chunks: Array.from({ length: perCall }, (_, i) => `${call * perCall + i} ${line}`),
    })
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  const seen = await take(eager, Number.POSITIVE_INFINITY)
  t.is(seen.length, calls * perCall + 1)
  const grown = (await residentMib(forge)) - before
  t.log(`grown by ${grown.toFixed(0)} MiB with ${lazy.length} readers of 36 MB each not reading`)
  t.true(grown < 200, `grown by ${grown.toFixed(0)} MiB`)
  // One of them finally reads, and gets every line from storage.
  const [late] = lazy
  let text = ''
  late?.setEncoding('utf8')
  late?.on('data', chunk => {
    text += chunk
  })
  late?.resume()
  await until('the late reader has everything', 30_000, () => text.includes('event: eof'))
  const seqs = [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
  t.deepEqual(
    seqs,
    Array.from({ length: calls * perCall }, (_, i) => i + 1),
  )
})

test('a stream begins where requested: at a number, near the end, or at the beginning', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', { chunks: ['a', 'b', 'c', 'd'] })
  await until('the lines are projected', 10_000, async () => {
    const { body } = await forge.call<object[]>('GET', `/api/runs/${run.run_id}/logs`)
    return body.length === 4
  })
  const first = async (query: string, lastEventId?: string) => {
    const stream = await connect(streamOf(forge, run.run_id, query), forge.token, lastEventId)
    const [event] = await take(stream, 1)
    stream.cut()
    return event?.data.text
  }
  t.is(await first(''), 'a')
  t.is(await first('?after=2'), 'c')
  t.is(await first('?tail=1'), 'd')
  t.is(await first('?after=1', '3'), 'd')
  const bad = await connect(streamOf(forge, run.run_id), forge.token, 'yesterday')
  t.is(bad.status, 422)
  t.is((await connect(streamOf(forge, run.run_id, '?after=x'), forge.token)).status, 422)
})

test('a stream has the headers of an event stream, even for HEAD', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', { chunks: ['a'] })
  const stream = await connect(streamOf(forge, run.run_id), forge.token)
  t.is(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.is(stream.headers.get('cache-control'), 'no-store, no-transform')
  t.truthy(stream.headers.get('x-request-id'))
  t.is((await stream.next())?.data.text, 'a')
  t.deepEqual(stream.notes, ['retry: 3000'])
  stream.cut()
  const head = await forge.call('HEAD', `/api/runs/${run.run_id}/logs/stream`)
  t.is(head.status, 200)
  t.is(head.headers.get('content-type'), 'text/event-stream; charset=utf-8')
})

test('a person has at most 20 streams at once, and one more as soon as one is closed', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const url = streamOf(forge, run.run_id)
  const open = await Promise.all(Array.from({ length: 20 }, () => connect(url, forge.token)))
  t.true(open.every(stream => stream.status === 200))
  const refused = await connect(url, forge.token)
  t.is(refused.status, 429)
  t.truthy(refused.headers.get('retry-after'))
  open[0]?.cut()
  await until('there is room again', 5_000, async () => {
    const again = await connect(url, forge.token)
    if (again.status === 200) open.push(again)
    return again.status === 200
  })
  for (const stream of open) stream.cut()
})

test('a stop of the server ends streams with a reconnect delay, without waiting for them', async t => {
  const forge = await startForgeProcess(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', { chunks: ['a'] })
  const stream = await connect(streamOf(forge, run.run_id), forge.token)
  const [event] = await take(stream, 1)
  t.is(await forge.stop(), 0)
  t.is(await stream.next(), null)
  // One read at the start and one at the end: a stop that waits the full 25 s cuts a connection without a response.
  t.is(stream.notes.filter(note => /^retry: \d+$/.test(note)).length, 2)
  await forge.start()
  await ingest(forge, run, 'logs', { chunks: ['b'] })
  const again = await connect(streamOf(forge, run.run_id), forge.token, event?.id)
  t.is((await again.next())?.data.text, 'b')
  again.cut()
})

test('lines after the end are sent on reconnecting; a reader that has everything gets 204', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const url = streamOf(forge, run.run_id)
  await ingest(forge, run, 'logs', { chunks: ['a'] })
  await ingest(forge, run, 'lifecycle', { event: 'failed' })
  const [a, end] = await take(await connect(url, forge.token), 2)
  t.like(a, { event: 'log', id: '1' })
  t.like(end, { event: 'eof', id: '1.eof' })
  t.is((await connect(url, forge.token, end?.id)).status, 204)
  // A reader that was cut off before the end still gets the end.
  t.like(await (await connect(url, forge.token, a?.id)).next(), { event: 'eof' })
  await ingest(forge, run, 'logs', { chunks: ['late'] })
  const late = await until('the late line is there', 10_000, async () => {
    const stream = await connect(url, forge.token, end?.id)
    return stream.status === 200 ? take(stream, 2) : null
  })
  t.like(late[0], { event: 'log', id: '2', data: { text: 'late' } })
  t.like(late[1], { event: 'eof', id: '2.eof' })
})
