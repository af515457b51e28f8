import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createApi } from '../../../../clients/cli/api/client.ts'
import { browserOpener } from '../../../../clients/cli/login/browser.ts'
import { signInByDevice } from '../../../../clients/cli/login/device-flow.ts'

type Scripted = { status: number; body: object }

const code = {
  device_code: 'secret',
  user_code: 'BCDF-GHJK',
  verification_uri: 'http://forge.test/device',
  verification_uri_complete: 'http://forge.test/device?user_code=BCDF-GHJK',
  expires_in: 900,
  interval: 5,
}
const pending = { status: 400, body: { detail: 'authorization_pending' } }
const slowDown = { status: 429, body: { detail: 'slow_down' } }
const away = { status: 503, body: { detail: 'stopping' } }
const token = { status: 200, body: { token: 't', user: { username: 'ada', role: 'operator' } } }

/** The flow against a server with scripted responses to polls, with a clock that advances only while it waits. */
async function signIn(t: ExecutionContext, polls: readonly Scripted[], given = code) {
  let nowMs = 0
  const polledAtS: number[] = []
  const server = createServer((request, response) => {
    const isPoll = request.url === '/api/cli/device/token'
    if (isPoll) polledAtS.push(nowMs / 1000)
    const answer = isPoll ? polls[polledAtS.length - 1] : { status: 200, body: given }
    response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' })
    request.resume().on('end', () => response.end(JSON.stringify(answer?.body)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const troubles: string[] = []
  const waits: number[] = []
  const shown: object[] = []
  const signedIn = signInByDevice({
    api: createApi({
      ...{ host: `http://127.0.0.1:${port}`, token: null, userAgent: 'test' },
      onSlow: () => {},
    }),
    nowMs: () => nowMs,
    pause: async ms => {
      nowMs += ms
    },
    onCode: each => shown.push(each),
    onWaiting: leftS => waits.push(leftS),
    onTrouble: reason => troubles.push(reason),
  })
  const outcome = await signedIn.catch((error: Error) => error)
  return { outcome, polledAtS, troubles, waits, shown }
}

test('polls keep the interval, slow down on request, and survive an outage of the server', async t => {
  const polls = [pending, slowDown, away, pending, token]
  const { outcome, polledAtS, troubles, waits } = await signIn(t, polls)
  t.deepEqual<unknown, object>(outcome, token.body)
  t.deepEqual(polledAtS, [5, 10, 20, 30, 40])
  t.deepEqual(troubles, ['stopping'])
  t.deepEqual(waits.slice(0, 3), [900, 899, 898])
})

test('a refusal ends the flow with its reason', async t => {
  const refused = (detail: string) => [{ status: 400, body: { detail } }]
  const denied = await signIn(t, refused('access_denied'))
  t.like(denied.outcome, { message: 'The sign-in was denied', exitCode: 4 })
  const expired = await signIn(t, refused('expired_token'))
  t.like(expired.outcome, { message: 'The code expired before it was approved', exitCode: 4 })
})

test('an unreachable server is retried until the code expires', async t => {
  const short = { ...code, expires_in: 12 }
  const { outcome, polledAtS } = await signIn(t, [away, away, away], short)
  t.like(outcome, { exitCode: 4 })
  t.deepEqual(polledAtS, [5, 10, 12])
})

test('a person is shown the code, never the secret behind it', async t => {
  const { shown } = await signIn(t, [token])
  const { device_code: _, ...rest } = code
  t.deepEqual(shown, [{ ...rest, expires_at: '1970-01-01T00:15:00+00:00' }])
})

test('only web addresses are opened', async t => {
  for (const verification_uri_complete of ['file:///etc/passwd', '-x', 'javascript:alert(1)']) {
    const { outcome, shown } = await signIn(t, [token], { ...code, verification_uri_complete })
    t.like(outcome, { exitCode: 3 })
    t.deepEqual(shown, [])
  }
})

test('a browser is opened only where a person has a screen', t => {
  const opener = (platform: string, env: Record<string, string>, isTerminal = true) =>
    browserOpener({ platform, env, isTerminal })
  t.is(opener('linux', { DISPLAY: ':0' }), 'xdg-open')
  t.is(opener('linux', { WAYLAND_DISPLAY: 'wayland-0' }), 'xdg-open')
  t.is(opener('darwin', {}), 'open')
  t.is(opener('linux', {}), null)
  t.is(opener('linux', { DISPLAY: ':0' }, false), null)
  t.is(opener('darwin', {}, false), null)
})
