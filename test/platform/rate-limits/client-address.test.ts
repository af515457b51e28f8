import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import { clientAddress, clientNetwork } from '../../../platform/http/client-address.ts'
import { startForge } from '../../servers/forge.ts'

const forged = '6.6.6.6'

/** The client's address as seen by an application behind `hops` trusted proxies. */
async function seenBehind(t: ExecutionContext, hops: number, forwarded: string | null) {
  const app = new Koa({ proxy: hops > 0 })
  app.maxIpsCount = hops
  app.use(ctx => {
    ctx.body = clientAddress(ctx)
  })
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    headers: {
      connection: 'close',
      ...(forwarded !== null && { 'x-forwarded-for': forwarded }),
    },
  })
  return answer.text()
}

const seen: [why: string, hops: number, forwarded: string | null, address: string][] = [
  ['no proxy is trusted', 0, forged, '127.0.0.1'],
  ['no proxy is trusted, whatever the header says', 0, `${forged}, 10.0.0.1`, '127.0.0.1'],
  ['one proxy wrote the last entry', 1, `${forged}, 10.0.0.1`, '10.0.0.1'],
  ['two proxies wrote the last two', 2, `${forged}, 10.0.0.1, 10.0.0.2`, '10.0.0.1'],
  ['many forged entries move nothing', 1, `${`${forged}, `.repeat(40)}10.0.0.1`, '10.0.0.1'],
  ['the proxy sent no header', 1, null, '127.0.0.1'],
  ['an entry that is not an address', 1, 'unknown', '127.0.0.1'],
  ['IPv4 written as IPv6', 1, '::ffff:10.0.0.1', '10.0.0.1'],
  ['IPv6 in one spelling', 1, '2001:DB8:0:0::1', '2001:db8::1'],
]
for (const [why, hops, forwarded, address] of seen)
  test(`with ${hops} trusted proxies: ${why}`, async t => {
    t.is(await seenBehind(t, hops, forwarded), address)
  })

test('IPv6 addresses of one /56 are one client, those of two are two', t => {
  const network = clientNetwork('2001:db8:1:200:3:4:5:6')
  t.is(network, '2001:db8:1:200::/56')
  t.is(clientNetwork('2001:db8:1:2ff:ffff::1'), network)
  t.is(clientNetwork('2001:DB8:1:2AB::'), network)
  t.not(clientNetwork('2001:db8:1:300:3:4:5:6'), network)
})

test('each IPv4 address is a client, even on an IPv6 socket', t => {
  t.is(clientNetwork('::ffff:10.0.0.1'), '10.0.0.1')
  t.not(clientNetwork('::ffff:10.0.0.2'), clientNetwork('::ffff:10.0.0.1'))
})

const perMinute = 10

for (const hops of [0, 1, 2] as const)
  test(`a new forged address for each sign-in does not help behind ${hops} proxies`, async t => {
    const forge = await startForge(t, { SERVICE_TRUSTED_PROXY_HOPS: String(hops) })
    const own = ['', ', 10.0.0.1', ', 10.0.0.1, 10.0.0.2'][hops]
    const statuses: number[] = []
    for (let call = 0; call < 12; call++) {
      const { status } = await forge.call('POST', '/api/auth/login', {
        token: null,
        body: { username: `nobody-${call}`, password: 'wrong' },
        headers: { 'x-forwarded-for': `${forged}${call}${own}` },
      })
      statuses.push(status)
    }
    t.deepEqual(
      statuses,
      statuses.map((_, call) => (call < perMinute ? 401 : 429)),
    )
  })
