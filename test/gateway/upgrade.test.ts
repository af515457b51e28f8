import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { say, serveEngine } from '../servers/engine.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { openStage } from './stage.ts'

/** The response to a GET with these headers, and how many requests the engine got. */
async function get(t: ExecutionContext, headers: readonly string[]) {
  const stage = await openStage(t)
  let asked = 0
  const url = await serveEngine(t, (req, res) => {
    asked++
    say('plain')(req, res)
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const socket = connect(stage.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let got = ''
  socket.on('data', data => {
    got += data.toString('latin1')
  })
  const head = ['GET /inference/dep_a/v1/realtime HTTP/1.1', 'Host: x', 'Authorization: Bearer']
  socket.write(`${head.join('\r\n')} ${token}\r\n${headers.join('\r\n')}\r\n\r\n`)
  await until('a response', 20_000, () => /\r\n\r\n.*(plain|\})/s.test(got))
  return { got, asked }
}

const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
for (const headers of [
  ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key],
  ['Connection: keep-alive, upgrade', 'Upgrade: WebSocket', key],
  ['Connection: Upgrade', 'Upgrade: h2c, websocket', key],
  ['Connection: Upgrade', 'Upgrade: something/1'],
])
  test(`a request for another protocol is refused, not served as a plain one: ${headers[0]}, ${headers[1]}`, async t => {
    t.timeout(patient(60_000))
    const { got, asked } = await get(t, headers)
    t.regex(got, /^HTTP\/1\.1 501 /)
    t.regex(got, /upgrade_not_supported/)
    t.is(asked, 0)
  })

for (const headers of [
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  ['Connection: keep-alive', 'Upgrade: websocket'],
  ['Connection: Upgrade', 'X-Other: 1'],
])
  test(`a request that HTTP/1.1 serves as well is served: ${headers[0]}, ${headers[1]}`, async t => {
    t.timeout(patient(60_000))
    const { got, asked } = await get(t, headers)
    t.regex(got, /^HTTP\/1\.1 200 /)
    t.is(asked, 1)
  })
