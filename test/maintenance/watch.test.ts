import test from 'ava'
import { pino } from 'pino'
import { watchMaintenance } from '../../auth/maintenance.ts'
import { countedPool } from '../servers/counted-pool.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

test('a switch without a signal is noticed by the next poll', async t => {
  const { pool } = await database(t)
  const { counted, queries } = countedPool(pool)
  let begun = 0
  const logger = pino({ level: 'silent' })
  const watch = await watchMaintenance({ pool: counted, logger, onBegin: () => begun++ })
  t.teardown(watch.stop)
  for (const enabled of [true, false, true]) {
    await pool.query('update auth.maintenance set enabled = $1', [enabled])
    const before = queries()
    await until('it is known', 10_000, () => watch.current().enabled === enabled)
    // One may already have been under way; another is started before the result is checked.
    t.true(queries() - before <= 2, `${queries() - before} looks`)
  }
  t.is(begun, 2)
})
