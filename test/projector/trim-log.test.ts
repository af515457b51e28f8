import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import type { Reactor } from '../../command-api/effects/reactor.ts'
import { offsetsNeeded } from '../../command-api/followers/offsets-needed.ts'
import { logTrimmer } from '../../command-api/projections/trim-log.ts'
import { topicsOf } from '../../events/topics.ts'
import { openPostgresLog } from '../../platform/log/postgres.ts'
import type { Topic } from '../../platform/log/topic.ts'
import { locks } from '../../platform/postgres/locks.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { projections } from '../../projector/compose.ts'
import { projectionsRead, trimLog } from '../../projector/trim-log.ts'
import { scheduleRunners } from '../command-api/run-schedules.ts'
import { startForge } from '../servers/forge.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const dayMs = 86_400_000

/** A log with 100 decisions and 100 records of logs, in ranges of 10, read by all readers. */
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
  const warned: string[] = []
  const logger = pino(
    { level: 'warn' },
    { write: line => warned.push(String(JSON.parse(line).follower)) },
  )
  const deps = {
    pool,
    trim: log.trim,
    topics: Object.values(topics),
    readers: [
      projectionsRead(pool, projections(topics)),
      offsetsNeeded({ pool, followers: [{ name: 'f', topic: topics.logs.name }], logger }),
    ],
    logger,
  }
  return {
    pool,
    url,
    topics,
    partition,
    warned,
    trimAfter: (days: number, more: readonly Topic[] = []) =>
      trimLog({
        ...deps,
        topics: [...more, ...deps.topics],
        now: () => new Date(Date.now() + days * dayMs),
      }),
    follow: (follower: string, offset: number) =>
      pool.query(
        `insert into write.follower (follower, topic, partition, next_offset) values ($1, $2, $3, $4)`,
        [follower, topics.logs.name, partition, offset],
      ),
    starts: async () => ({
      decisions: (await log.start(topics.decisions.name))[0],
      logs: (await log.start(topics.logs.name))[partition],
    }),
  }
}

test('facts are dropped after their retention, decisions never', async t => {
  const at = await filledLog(t)
  t.true(await at.trimAfter(29))
  t.deepEqual(await at.starts(), { decisions: 0n, logs: 0n })
  t.true(await at.trimAfter(31))
  t.deepEqual(await at.starts(), { decisions: 0n, logs: 100n })
})

test('records that a projection or follower has yet to read stay, however old', async t => {
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
  await at.follow('f', 60)
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 60n)
  // A reader without a checkpoint still needs the whole topic.
  await at.pool.query('delete from read.projection_checkpoint')
  await at.pool.query('delete from write.follower')
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 60n)
})

test('a topic that cannot be trimmed does not block the others, and the duty fails', async t => {
  const at = await filledLog(t)
  const nowhere = { name: 'forge.nowhere', partitions: 1, retentionDays: 1 }
  await t.throwsAsync(at.trimAfter(31, [nowhere]))
  t.deepEqual(await at.starts(), { decisions: 0n, logs: 100n })
})

test('a follower unknown to the program keeps no records, and is logged once', async t => {
  const at = await filledLog(t)
  await at.follow('removed', 10)
  await at.follow('f', 60)
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 60n)
  await at.pool.query(`delete from write.follower where follower = 'f'`)
  await at.trimAfter(31)
  t.is((await at.starts()).logs, 100n)
  t.deepEqual(at.warned, ['removed'])
})

test('each hour the log is trimmed once, by the first process that is ready', async t => {
  const at = await filledLog(t)
  let trims = 0
  const trim = async () => {
    trims++
    return at.trimAfter(31)
  }
  const trimmer: Reactor<null> = {
    ...logTrimmer,
    perform: (duty, _, signal) => logTrimmer.perform(duty, trim, signal),
    givenUp: duty => logTrimmer.givenUp(duty, trim),
  }
  const { start, run, nextAt, pass, rows } = await scheduleRunners(t, at)
  for (let process = 0; process < 2; process++) start(trimmer, run([trimmer]).runner.wake)
  const untilDone = (duties: number) =>
    until(`${duties} duties are done`, 10_000, async () => {
      const all = await rows()
      return all.length === duties && all.every(({ done_at }) => done_at !== null)
    })
  await nextAt('2026-11-20T13:00:00.000Z')
  t.is((await at.starts()).logs, 0n, 'the first slot is still to come')
  pass(3_600_000)
  await untilDone(1)
  t.is((await at.starts()).logs, 100n)
  await nextAt('2026-11-20T14:00:00.000Z')
  pass(3_600_000)
  await untilDone(2)
  t.is(trims, 2)
})

test('a server with the projector performs the trim duty of a due hour', async t => {
  const { pool } = await startForge(t, { SERVICE_ROLES: 'command-api,projector' })
  await until('the schedule is due', 10_000, async () => {
    const { rowCount } = await pool.query(
      `update write.schedule set next_at = '2026-01-01T00:00:00Z' where schedule = 'log-trim'`,
    )
    return rowCount === 1
  })
  await until('its duty is done', 20_000, async () => {
    const { rowCount } = await pool.query(
      `select from write.duty where reactor = 'log-trim' and done_at is not null`,
    )
    // A full hour that passes meanwhile has its own duty.
    return Number(rowCount) >= 1
  })
  const { rows } = await pool.query(
    `select next_at > now() as is_ahead from write.schedule where schedule = 'log-trim'`,
  )
  t.deepEqual(
    rows,
    [{ is_ahead: true }],
    'missed slots count as one, and the next is in the future',
  )
})

test('nothing is trimmed during a rebuild', async t => {
  const at = await filledLog(t)
  await withLock(at.pool, { lock: locks.logTrim, waitMs: 1000 }, async () => {
    t.false(await at.trimAfter(31))
    t.is((await at.starts()).logs, 0n)
  })
  t.true(await at.trimAfter(31))
  t.is((await at.starts()).logs, 100n)
})
