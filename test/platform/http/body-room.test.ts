import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { createBodyRoom } from '../../../platform/http/body-room.ts'
import { until } from '../../servers/until.ts'
import { goodBody, startEcho } from './echo.ts'

const roomBytes = 12_000
/** Fits the route, and two of them do not fit one caller's half of the room. */
const text = JSON.stringify({ ...JSON.parse(goodBody), extra: 'x'.repeat(3500) })

/** Sends a body except for its last byte, and waits; `end` sends that too, `leave` disconnects. */
async function halfSent(t: ExecutionContext, port: number, body: string, ...headers: string[]) {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const head = [
    'POST /api/echo/a HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
  let reply = ''
  socket.on('data', chunk => {
    reply += chunk
  })
  return {
    end: () => socket.write(body.slice(-1)),
    leave: () => socket.destroy(),
    reply: () => until('the reply', 10_000, () => reply !== '' && reply),
  }
}

test('bodies beyond the room get 503 with Retry-After, and are accepted again once there is room', async t => {
  const { post, port } = await startEcho(t, [], { bodyRoomBytes: roomBytes })
  const first = await halfSent(t, port, text)
  const refused = await until('the room is taken', 10_000, async () => {
    const reply = await post(text)
    return reply.status === 503 && reply
  })
  t.deepEqual(
    [refused.body.code, refused.headers.get('retry-after'), refused.headers.get('connection')],
    ['bodies.full', '1', 'close'],
  )
  t.is((await post(goodBody)).status, 200, 'a short one still fits')
  first.end()
  t.regex(await first.reply(), /^HTTP\/1.1 200/)
  for (let n = 0; n < 3; n++) t.is((await post(text)).status, 200)
})

test('a client that disconnects releases its room', async t => {
  const { post, port } = await startEcho(t, [], { bodyRoomBytes: roomBytes })
  const first = await halfSent(t, port, text)
  await until('the room is taken', 10_000, async () => (await post(text)).status === 503)
  first.leave()
  const { status } = await until('there is room again', 10_000, async () => {
    const reply = await post(text)
    return reply.status !== 503 && reply
  })
  t.is(status, 200)
})

for (const [encoding, encode] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)
  test(`a body sent as ${encoding} counts with its expanded size`, async t => {
    const { post } = await startEcho(t, [], { bodyRoomBytes: 4000 })
    const headers = { 'content-encoding': encoding }
    t.is((await post(encode(goodBody), headers)).status, 200)
    const reply = await post(encode(text), headers)
    t.deepEqual([reply.status, reply.body.code], [503, 'bodies.full'])
    t.is((await post(encode(goodBody), headers)).status, 200)
    t.is((await post(Buffer.from('no such thing'), headers)).status, 400)
  })

for (const [why, headers, status] of [
  ['of an unknown encoding', ['Content-Encoding: foo', 'Transfer-Encoding: chunked'], 415],
  ['announced as too large', ['Content-Length: 100000'], 413],
] as const)
  test(`a body ${why} takes no room, however much of it arrives`, async t => {
    const { post, port } = await startEcho(t, [], { bodyRoomBytes: roomBytes })
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    let reply = ''
    socket.on('data', chunk => {
      reply += chunk
    })
    socket.on('error', () => {})
    const head = ['POST /api/echo/a HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']
    const chunk = `${(5000).toString(16)}\r\n${'x'.repeat(5000)}\r\n`
    socket.write(`${[...head, ...headers].join('\r\n')}\r\n\r\n${chunk}`)
    await until('the reply', 10_000, () => reply !== '')
    t.regex(reply, new RegExp(`^HTTP/1.1 ${status}`))
    for (let n = 0; n < 4; n++) await new Promise(resolve => socket.write(chunk, resolve))
    t.is((await post(text)).status, 200)
  })

test('encodings are known in upper case, too', async t => {
  const { post } = await startEcho(t)
  t.is((await post(gzipSync(goodBody), { 'content-encoding': 'GZIP' })).status, 200)
  t.is((await post(goodBody, { 'content-encoding': 'Identity' })).status, 200)
})

test('the room of one body is released once', t => {
  const room = createBodyRoom(10)
  const [a, b] = [room.share('a'), room.share('b')]
  t.is(a.take(5), null)
  t.is(b.take(5), null)
  t.is(room.share('c').take(1)?.code, 'unavailable')
  a.release()
  a.release()
  t.is(room.share('c').take(5), null)
  t.is(room.share('d').take(1)?.code, 'unavailable')
})

test('one caller gets half of the room, however many bodies it sends', t => {
  const room = createBodyRoom(10)
  const bodies = Array.from({ length: 6 }, () => room.share('a'))
  t.deepEqual(
    bodies.map(body => body.take(1)?.extras.code ?? null),
    [null, null, null, null, null, 'bodies.full'],
  )
  t.is(room.share('b').take(5), null)
  bodies[0]?.release()
  t.is(bodies[5]?.take(1), null)
})

test('large bodies leave an eighth of the room to small ones', t => {
  const MiB = 1024 * 1024
  const room = createBodyRoom()
  t.is(room.share('a').take(32 * MiB), null)
  const large = room.share('b')
  t.is(large.take(24 * MiB), null)
  t.is(large.take(1)?.extras.code, 'bodies.full')
  t.is(room.share('c').take(64 * 1024 + 1)?.extras.code, 'bodies.full')
  const small = Array.from({ length: 129 }, () => room.share('c').take(64 * 1024))
  t.is(small.filter(refused => refused === null).length, 128)
})

test('a caller that fills its room does not block others, in any network', async t => {
  const { post, port } = await startEcho(t, [], {
    bodyRoomBytes: roomBytes,
    nameOf: ({ name }) => name,
  })
  const first = await halfSent(t, port, text, 'Name: a')
  const refused = await until('its room is taken', 10_000, async () => {
    const reply = await post(text, { name: 'a' })
    return reply.status === 503 && reply
  })
  t.deepEqual([refused.body.code, refused.headers.get('retry-after')], ['bodies.full', '1'])
  t.is((await post(text, { name: 'b' })).status, 200)
  first.end()
  t.regex(await first.reply(), /^HTTP\/1.1 200/)
})
