import { connect } from 'node:net'
import test from 'ava'
import { startForge } from '../../servers/forge.ts'

/** Far below the 25 s after which a stopping server cuts remaining connections. */
const promptlyMs = 10_000

test('idle connections do not prevent the server from stopping', async t => {
  const forge = await startForge(t)
  const port = Number(new URL(forge.url).port)
  const silent = connect(port, '127.0.0.1')
  t.teardown(() => silent.destroy())
  await new Promise(resolve => silent.once('connect', resolve))
  const ended = new Promise(resolve => silent.once('close', resolve))
  const began = performance.now()
  t.is(await forge.stop(), 0)
  await ended
  t.true(performance.now() - began < promptlyMs)
})
