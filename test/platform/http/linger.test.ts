import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { startEcho } from './echo.ts'

const mebibyte = 'x'.repeat(1024 * 1024)
const asChunk = `${mebibyte.length.toString(16)}\r\n${mebibyte}\r\n`
const count = 12

/** Sends a whole body before it reads anything, as many clients do, and returns the response. */
async function sendFirst(port: number, header: string, piece: string, end: string) {
  const socket = connect(port, '127.0.0.1').pause()
  let reply = ''
  let fault = ''
  socket.on('error', error => {
    fault = error.message
  })
  const closed = once(socket, 'close')
  const head = ['POST /api/echo/a HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']
  socket.write(`${[...head, header].join('\r\n')}\r\n\r\n`)
  for (let n = 0; n < count && fault === ''; n++)
    await new Promise(resolve => socket.write(piece, resolve))
  socket.on('data', chunk => {
    reply += chunk
  })
  socket.resume().end(end)
  await closed
  return fault || reply
}

for (const [how, header, piece, end] of [
  ['announced', `Content-Length: ${count * mebibyte.length}`, mebibyte, ''],
  ['in chunks', 'Transfer-Encoding: chunked', asChunk, '0\r\n\r\n'],
] as const)
  test(`a client that sends its whole body first reads why it was refused: ${how}`, async t => {
    const { port } = await startEcho(t)
    const reply = await sendFirst(port, header, piece, end)
    t.regex(reply, /^HTTP\/1.1 413/)
    t.regex(reply, /connection: close/i)
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
