import test from 'ava'
import { startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { push, textRows, untilValidated } from './pushing.ts'

const underWay = `select from write.duty where reactor = 'validate-datasets' and attempts = 1 and done_at is null`

test('a validation that was killed begins again, and its result is recorded and announced once', async t => {
  t.timeout(patient(240_000))
  const forge = await startForgeProcess(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const texts = Array.from({ length: 400_000 }, (_, nth) => `a row of some length, number ${nth}`)
  const pushed = await push(forge, 'admin/killed', { 'train.jsonl': textRows(...texts) })
  t.is(pushed.status, 200, JSON.stringify(pushed.body))
  await until('it is being validated', 30_000, async () => {
    const { rowCount } = await forge.pool.query(underWay)
    return rowCount === 1
  })
  await forge.kill()
  await forge.start()
  t.like(await untilValidated(forge, 'admin/killed'), { state: 'ready', rows: 400_000 })
  const { rows } = await forge.pool.query(
    `select (select attempts from write.duty where reactor = 'validate-datasets') as attempts,
            (select count(*)::int from write.event where type = 'dataset.validated') as results`,
  )
  t.deepEqual(rows, [{ attempts: 2, results: 1 }])
  const told = await until('it is announced', 30_000, async () => {
    const { body } = await forge.call<{ kind: string; count: number }[]>(
      'GET',
      '/api/notifications',
    )
    const found = body.filter(({ kind }) => kind === 'dataset_ready')
    return found.length > 0 && found
  })
  t.like(told, [{ count: 1 }])
  t.is(told.length, 1)
})
