import test from 'ava'
import { LogUnavailable } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { watchLag } from '../../projector/runner/lag.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const topic = 'forge.logs'

test('the lag is the waiting time of the oldest record, and grows while the log is down', async t => {
  const { pool } = await database(t, { schema: 'read' })
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  let nowMs = 1_000_000
  let looks = 0
  let isAway = false
  const watch = watchLag({
    pool,
    log: {
      async end(name) {
        looks++
        if (isAway) throw new LogUnavailable('away')
        return await log.end(name)
      },
    },
    projections: [{ name: 'logs', topic }],
    now: () => new Date(nowMs),
  })
  t.teardown(watch.stop)
  const lookedTwice = async () => {
    const before = looks
    await until('it has looked again', 15_000, () => looks > before + 1)
  }
  const reach = (next: number) =>
    pool.query(
      `insert into projection_checkpoint values ('logs', $1, 0, $2)
       on conflict (projection, topic, partition) do update set next_offset = excluded.next_offset`,
      [topic, next],
    )
  await lookedTwice()
  t.is(watch.lagMs('logs'), 0)

  await log.append(topic, [{ key: 'k', value: Buffer.from('one') }])
  await lookedTwice()
  nowMs += 30_000
  t.is(watch.lagMs('logs'), 30_000)
  await log.append(topic, [{ key: 'k', value: Buffer.from('two') }])
  await lookedTwice()
  nowMs += 5_000
  t.is(watch.lagMs('logs'), 35_000, 'a newer record does not hide the older')

  await reach(1)
  await lookedTwice()
  t.is(watch.lagMs('logs'), 5_000)
  isAway = true
  await lookedTwice()
  nowMs += 60_000
  t.is(watch.lagMs('logs'), 65_000)
  isAway = false
  await reach(2)
  await lookedTwice()
  t.is(watch.lagMs('logs'), 0)
})
