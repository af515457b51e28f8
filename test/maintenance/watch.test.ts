import test from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { watchMaintenance } from '../../auth/maintenance.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

test('a switch without a signal is noticed by the next poll', async t => {
  const { pool } = await database(t)
  let looks = 0
  const counted = new Proxy(pool, {
    get(target, name: keyof Pool) {
      if (name === 'query') looks++
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  let begun = 0
  const logger = pino({ level: 'silent' })
  const watch = await watchMaintenance({ pool: counted, logger, onBegin: () => begun++ })
  t.teardown(watch.stop)
  for (const enabled of [true, false, true]) {
    await pool.query('update auth.maintenance set enabled = $1', [enabled])
    const before = looks
    await until('it is known', 10_000, () => watch.current().enabled === enabled)
    // One may already have been under way; another is started before the result is checked.
    t.true(looks - before <= 2, `${looks - before} looks`)
  }
  t.is(begun, 2)
})
