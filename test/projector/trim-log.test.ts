import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { followersRead } from '../../command-api/followers-read.ts'
import { topicsOf } from '../../events/topics.ts'
import { openPostgresLog } from '../../platform/log/postgres.ts'
import { locks } from '../../platform/postgres/locks.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { projections } from '../../projector/slices.ts'
import { projectionsRead, trimLog } from '../../projector/trim-log.ts'
import { database } from '../servers/postgres.ts'

const dayMs = 86_400_000

/** A log with 100 records of decisions and of logs, in ranges of 10, which all readers have read. */
async function filledLog(t: ExecutionContext) {
  const { url, pool } = await database(t)
  const topics = topicsOf('forge', { days: 30, maxBytes: null })
  const log = await openPostgresLog({ url, topics: Object.values(topics) })
  t.teardown(log.close)
  await pool.query('update log.lane set leaf_records = 10')
  const records = Array.from({ length: 100 }, () => ({ key: 'run_a', value: Buffer.from('x') }))
  for (const topic of [topics.decisions, topics.logs]) await log.append(topic.name, records)
  const [, end] = await log.end(topics.logs.name)
  const partition = end === 100n ? 1 : 0
  await pool.query(
    `insert into read.projection_checkpoint (projection, topic, partition, next_offset)
     select 'logs', topic, partition, next_offset from log.lane where topic = $1`,
    [topics.logs.name],
  )
  const deps = {
    pool,
    trim: log.trim,
    topics: Object.values(topics),
    readers: [projectionsRead(pool, projections(topics)), followersRead(pool)],
    logger: pino({ level: 'silent' }),
  }
  return {
    pool,
    topics,
    partition,
    trimAfter: (days: number) =>
      trimLog({ ...deps, now: () => new Date(Date.now() + days * dayMs) }),
    starts: async () => ({
      decisions: (await log.start(topics.decisions.name))[0],
      logs: (await log.start(topics.logs.name))[partition],
    }),
  }
}

test('facts go after their retention, decisions never', async t => {
  const at = await filledLog(t)
  t.true(await at.trimAfter(29))
  t.deepEqual(await at.starts(), { decisions: 0n, logs: 0n })
  t.true(await at.trimAfter(31))
  t.deepEqual(await at.starts(), { decisions: 0n, logs: 100n })
})

test('what a projection or a follower has yet to read stays, however old it is', async t => {
  const at = await filledLog(t)
  const move = (offset: number) =>
    at.pool.query(
      'update read.projection_checkpoint set next_offset = $1 where partition = $2 and projection = $3',
      [offset, at.partition, 'logs'],
    )
  await move(35)
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 30n)
  await move(100)
  await at.pool.query(
    `insert into write.follower (follower, topic, partition, next_offset) values ('f', $1, $2, 60)`,
    [at.topics.logs.name, at.partition],
  )
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 60n)
  // One that knows nothing of the topic yet has all of it before it.
  await at.pool.query('delete from read.projection_checkpoint')
  await at.pool.query('delete from write.follower')
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 60n)
})

test('nothing goes while a rebuild is at work', async t => {
  const at = await filledLog(t)
  await withLock(at.pool, { lock: locks.logTrim, waitMs: 1000 }, async () => {
    t.false(await at.trimAfter(31))
    t.is((await at.starts()).logs, 0n)
  })
  t.true(await at.trimAfter(31))
  t.is((await at.starts()).logs, 100n)
})
