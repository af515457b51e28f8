import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { allowedHosts } from '../../../platform/http/allowed-hosts.ts'
import { askWhole } from '../../../platform/http/ask-whole.ts'
import { faultOf, isPublic, openOutgoing, Unreachable } from '../../../platform/http/outgoing.ts'
import { makeCertificates } from '../../servers/certificates.ts'
import { inward } from './inward.ts'

/** Names that are resolved to what `resolve` below says. */
const inwardNames = [
  'https://loopback.example/',
  'https://mixed.example/',
  'https://mapped.example/',
]

const names: Record<string, { address: string; family: number }[]> = {
  'loopback.example': [{ address: '127.0.0.1', family: 4 }],
  'mapped.example': [{ address: '::ffff:10.0.0.1', family: 6 }],
  // One right address does not vouch for the other.
  'mixed.example': [
    { address: '93.184.216.34', family: 4 },
    { address: '10.0.0.1', family: 4 },
  ],
}

async function scene(t: ExecutionContext) {
  const seen: { path: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    seen.push({ path, authorization: request.headers.authorization })
    const [, to] = /^\/to\/(.*)$/.exec(path) ?? []
    if (to !== undefined) response.writeHead(302, { location: to }).end()
    else if (path === '/loop') response.writeHead(302, { location: '/loop' }).end()
    else response.end(`you asked for ${path}`)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const trusted = `http://127.0.0.1:${port}`
  const outgoing = openOutgoing({ trusted, resolve: async name => names[name] ?? [] })
  t.teardown(async () => {
    await outgoing.close()
    server.close()
  })
  const ask = (path: string) => outgoing.ask(new URL(trusted + path), { bearer: 'hf_x' })
  return { ask, seen, outgoing, trusted }
}

test('redirects stay on the configured service, or lead to public addresses by https', async t => {
  const { ask, seen, outgoing } = await scene(t)
  t.is(await text((await ask('/to//here')).body), 'you asked for /here')
  t.deepEqual(
    seen.map(({ authorization }) => authorization),
    ['Bearer hf_x', 'Bearer hf_x'],
  )
  for (const url of [...inward, ...inwardNames]) {
    // A header holds no other characters.
    if (!/^[\x21-\x7e]+$/.test(url)) continue
    const asked = ask(`/to/${encodeURIComponent(url)}`)
    await t.throwsAsync(asked, { instanceOf: Unreachable, message: /not allowed|no address/ }, url)
    if (!URL.canParse(url)) continue
    const direct = outgoing.ask(new URL(url))
    await t.throwsAsync(direct, { instanceOf: Unreachable, message: /not allowed/ }, url)
  }
  await t.throwsAsync(ask('/loop'), { instanceOf: Unreachable, message: /too often/ })
  t.is(seen.filter(({ path }) => path === '/loop').length, 4)
})

test('a redirect to another service on the same host is refused', async t => {
  const { ask, seen } = await scene(t)
  const other = await scene(t)
  const asked = ask(`/to/${encodeURIComponent(`${other.trusted}/here`)}`)
  await t.throwsAsync(asked, { instanceOf: Unreachable, message: /not allowed/ })
  t.is(seen.length, 1)
  t.deepEqual(other.seen, [])
})

test('only addresses on the internet are public', t => {
  t.true(['93.184.216.34', '2606:2800:220:1::1', '::ffff:93.184.216.34'].every(isPublic))
  t.false(['', 'example.com', '198.18.0.1', '192.0.2.1', '240.0.0.1', '::'].some(isPublic))
})

test('every spelling of an inward address is refused before anything is asked', t => {
  const none = allowedHosts([])
  t.true(inward.length >= 60)
  for (const url of inward) {
    const parsed = URL.parse(url)
    t.true(parsed === null || faultOf(parsed, none) !== null, url)
  }
  for (const url of [
    'https://example.com/',
    'https://example.com:8443/x',
    'https://93.184.216.34/',
  ])
    t.is(faultOf(new URL(url), none), null)
})

test('administrators allow hosts, ports and networks, always by https', t => {
  const some = allowedHosts(['policy.internal', 'other.internal:8000', '10.2.0.0/16', 'fd12::/16'])
  const allowed = ['policy.internal', 'policy.internal:9999', 'other.internal:8000', '10.2.3.4:80']
  for (const host of [...allowed, '[fd12::1]'])
    t.is(faultOf(new URL(`https://${host}/`), some), null)
  for (const host of ['other.internal:8001', '10.3.0.1', '[fd13::1]'])
    t.not(faultOf(new URL(`https://${host}/`), some), null, host)
  t.not(faultOf(new URL('http://policy.internal/'), some), null)
  for (const bad of ['a b', 'https://x', '10.0.0.0/99', 'x/y', 'a@b', ''])
    t.throws(() => allowedHosts([bad]), undefined, bad)
})

async function guarded(t: ExecutionContext, answer: RequestListener) {
  const folder = await mkdtemp(join(tmpdir(), 'outgoing-'))
  const { caFile, certFile, keyFile } = await makeCertificates(folder)
  const [ca, cert, key] = await Promise.all(
    [caFile, certFile, keyFile].map(file => readFile(file, 'utf8')),
  )
  const server = createSecureServer({ cert: cert ?? '', key: key ?? '' }, answer)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })
  return { ca: ca ?? '', port: (server.address() as AddressInfo).port }
}

test('a name that changes its address is connected to at the address that was checked', async t => {
  let reached = 0
  const { ca, port } = await guarded(t, (_, response) => {
    reached++
    response.end('inside')
  })
  // The network 127.0.0.2/32 stands for an allowed one; nothing listens there. At any later look the name is this machine.
  let looks = 0
  const resolve = async () => {
    looks++
    return [{ address: looks === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }]
  }
  const outgoing = openOutgoing({
    trusted: null,
    redirects: 0,
    ca,
    resolve,
    allowed: allowedHosts(['127.0.0.2/32']),
  })
  t.teardown(() => outgoing.close())
  const ask = (url: string) => askWhole(outgoing, new URL(url), { timeoutMs: 2000, maxBytes: 1000 })
  await t.throwsAsync(ask('https://rebinding.example:8443/'), { instanceOf: Unreachable })
  t.is(looks, 1)
  const again = ask('https://rebinding.example:8443/')
  await t.throwsAsync(again, { instanceOf: Unreachable, message: /not allowed/ })
  await t.throwsAsync(ask(`https://localhost:${port}/`), {
    instanceOf: Unreachable,
    message: /not allowed/,
  })
  t.is(reached, 0)
})

test('time and size of a whole answer are bounded, and a redirect is the answer where none is followed', async t => {
  const { ca, port } = await guarded(t, (request, response) => {
    if (request.url === '/to') response.writeHead(302, { location: '/' }).end()
    else if (request.url === '/drip') {
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(timer))
    } else if (request.url === '/silent') return
    else if (request.url === '/huge') response.end('x'.repeat(5000))
    else response.end('whole')
  })
  const host = `localhost:${port}`
  const outgoing = openOutgoing({ trusted: null, redirects: 0, ca, allowed: allowedHosts([host]) })
  t.teardown(() => outgoing.close())
  const ask = (path: string) =>
    askWhole(outgoing, new URL(`https://${host}${path}`), { timeoutMs: 700, maxBytes: 1000 })
  const whole = await ask('/')
  t.is(`${whole.status} ${whole.body}`, '200 whole')
  t.is((await ask('/to')).status, 302)
  for (const path of ['/drip', '/silent'])
    await t.throwsAsync(ask(path), { instanceOf: Unreachable, message: /no answer within 0\.7 s/ })
  await t.throwsAsync(ask('/huge'), { instanceOf: Unreachable, message: /more than 1000 bytes/ })
  const strict = openOutgoing({ trusted: null, allowed: allowedHosts([host]) })
  t.teardown(() => strict.close())
  const untrusted = askWhole(strict, new URL(`https://${host}/`), { timeoutMs: 2000, maxBytes: 10 })
  await t.throwsAsync(untrusted, { instanceOf: Unreachable, message: /certificate/ })
})
