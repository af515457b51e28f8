import { randomBytes } from 'node:crypto'
import test from 'ava'
import { startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { begin, untilEnded } from './importing.ts'
import { startSmallHub } from './small-hub.ts'

test('an import whose server was killed continues after the bytes that had arrived', async t => {
  t.timeout(patient(240_000))
  const hub = await startSmallHub()
  t.teardown(hub.close)
  const weights = randomBytes(4_000_000)
  const commit = hub.commit('acme/killed', { 'config.json': '{}', 'model.bin': weights })
  const path = `/acme/killed/resolve/${commit}/model.bin`
  hub.stalls.set(path, 900_000)
  const forge = await startForgeProcess(t, {
    SERVICE_HUB_ENDPOINT: hub.url,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const { body } = await begin(forge, 'hub:acme/killed')
  // The pieces of work end after ten seconds, and are recorded.
  await until('a part has arrived', 60_000, async () => {
    const { rowCount } = await forge.pool.query(
      `select from write.event where type = 'hub.import_progressed'`,
    )
    return rowCount !== 0
  })
  await forge.kill()
  hub.stalls.clear()
  const before = hub.requests.length
  await forge.start()
  t.like(await untilEnded(forge, body.import_id), { state: 'ready', bytes_done: 4_000_002 })
  const after = hub.requests.slice(before).filter(one => one.startsWith('GET /acme/'))
  t.is(after.length, 1, 'no other file is received again')
  const from = Number(/bytes=(\d+)-$/.exec(after[0] ?? '')?.[1])
  t.true(from > 500_000, `from byte ${from}`)
})
