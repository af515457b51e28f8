import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { isPublic, openOutgoing, Unreachable } from '../../../platform/http/outgoing.ts'

const inward = [
  ...['http://example.com/', 'ftp://example.com/', 'https://example.com:22/'],
  ...['https://user:secret@example.com/', 'https://127.0.0.1/', 'https://127.1/', 'https://0/'],
  ...['https://2130706433/', 'https://0x7f000001/', 'https://0177.0.0.1/', 'https://0x7f.1/'],
  ...['https://10.0.0.1/', 'https://172.16.3.4/', 'https://192.168.1.1/', 'https://100.64.0.1/'],
  ...['https://169.254.169.254/latest/', 'https://0.0.0.0/', 'https://224.0.0.1/'],
  ...['https://255.255.255.255/', 'https://[::]/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/'],
  ...['https://[::ffff:7f00:1]/', 'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/'],
  ...['https://[fd00:ec2::254]/', 'https://[fe80::1]/', 'https://[ff02::1]/'],
  // Names that are resolved to what `resolve` below says.
  ...['https://loopback.example/', 'https://mixed.example/', 'https://mapped.example/'],
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
  for (const url of inward) {
    const asked = ask(`/to/${encodeURIComponent(url)}`)
    await t.throwsAsync(asked, { instanceOf: Unreachable, message: /not allowed/ }, url)
    const direct = outgoing.ask(new URL(url))
    await t.throwsAsync(direct, { instanceOf: Unreachable, message: /not allowed/ }, url)
  }
  const wide = outgoing.ask(new URL('https://127。0。0。1/'))
  await t.throwsAsync(wide, { instanceOf: Unreachable, message: /not allowed/ })
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
