import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createApi } from '../../../../clients/cli/api/client.ts'
import { unreachable } from '../../../../clients/cli/api/unreachable.ts'
import { normalHost } from '../../../../clients/cli/login/contexts.ts'
import { freePort } from '../../../../platform/free-port.ts'

async function listening(t: ExecutionContext, server: Server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

const ask = (host: string) =>
  createApi({ host, token: 'x', userAgent: 'test', onSlow: () => {} })
    .get('/api/auth/me')
    .then(
      () => ({ message: 'reached', lines: [] as readonly string[] }),
      (error: Error & { lines: readonly string[] }) => error,
    )

test('https to an http server is reported with the address to try', async t => {
  const port = await listening(t, createHttp())
  const { message, lines } = await ask(`https://127.0.0.1:${port}`)
  t.is(
    message,
    `https://127.0.0.1:${port} cannot be reached: what listens there speaks http, not https`,
  )
  t.deepEqual(lines, [`hint: try --host http://127.0.0.1:${port}`])
})

test('http to an https server is reported with a suggestion', async t => {
  // A TLS server closes the connection when it receives anything but a handshake.
  const port = await listening(
    t,
    createTcp(socket => void socket.once('data', () => socket.destroy())),
  )
  const { message, lines } = await ask(`http://127.0.0.1:${port}`)
  t.regex(message, /closed the connection without a response/)
  t.deepEqual(lines, [`hint: if it speaks https: --host https://127.0.0.1:${port}`])
})

test('a wrong port, name and server are distinguished', async t => {
  const nobodys = await freePort()
  t.regex((await ask(`http://127.0.0.1:${nobodys}`)).message, /nothing listens there/)
  t.regex(
    (await ask('http://forge.invalid')).message,
    /the name (is unknown|could not be looked up)/,
  )
  const page = createHttp((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<h1>Welcome</h1>')
  })
  const port = await listening(t, page)
  t.regex((await ask(`http://127.0.0.1:${port}`)).message, /responds, but not like a Forge server/)
})

test('faults of a certificate are named', t => {
  const failed = (code: string) => {
    const cause = Object.assign(new Error('tls'), { code })
    return unreachable('https://forge.example', new TypeError('fetch failed', { cause }), 1000)
  }
  t.like(failed('CERT_HAS_EXPIRED'), {
    message: 'https://forge.example cannot be reached: its certificate has expired',
  })
  t.like(failed('SELF_SIGNED_CERT_IN_CHAIN'), {
    lines: ['hint: name the file of its authority in NODE_EXTRA_CA_CERTS'],
  })
})

test('an address with another scheme is refused', t => {
  t.throws(() => normalHost('ftp://forge.example'), { message: /http:\/\/ or https:\/\// })
  t.is(normalHost('https://forge.example/x/'), 'https://forge.example/x')
  t.is(normalHost('localhost:8080'), 'http://localhost:8080')
})
