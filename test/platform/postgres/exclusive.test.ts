import test from 'ava'
import { pino } from 'pino'
import { startExclusive } from '../../../platform/postgres/exclusive.ts'
import { locks } from '../../../platform/postgres/locks.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { sessionLocks } from '../../servers/lock-waits.ts'
import { database } from '../../servers/postgres.ts'
import { until } from '../../servers/until.ts'

const lock = locks.engine
const logger = pino({ level: 'silent' })

test('a part runs in one process, and in another when its holder is gone', async t => {
  const { pool, url } = await database(t)
  const others = createPool(url, { max: 2, applicationName: 'other' })
  t.teardown(() => others.end())
  const running = new Set<string>()
  const part = (name: string) => () => {
    t.is(running.size, 0)
    running.add(name)
    return {
      async stop() {
        running.delete(name)
      },
    }
  }
  const first = startExclusive({ pool, lock, logger, retryMs: 20 }, part('first'))
  await until('the first runs', 10_000, () => running.has('first'))
  const second = startExclusive({ pool: others, lock, logger, retryMs: 20 }, part('second'))
  await first.stop()
  await until('the second runs', 10_000, () => running.has('second'))
  await second.stop()
  t.is(running.size, 0)
})

test('a holder that loses its connection stops, and starts again when it is back', async t => {
  const { pool } = await database(t)
  let starts = 0
  let stops = 0
  const part = startExclusive({ pool, lock, logger, retryMs: 20 }, () => {
    starts++
    return {
      async stop() {
        stops++
      },
    }
  })
  await until('it runs', 10_000, () => starts === 1)
  const holders = (await sessionLocks(pool)).filter(held => held.locktype === 'advisory')
  t.is(holders.length, 1)
  await pool.query('select pg_terminate_backend($1)', [holders[0]?.pid])
  await until('it runs again', 10_000, () => starts === 2)
  t.is(stops, 1)
  await part.stop()
  t.is(stops, 2)
})
