import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { startRelay } from '../../command-api/relay/relay.ts'
import { relayLagMs } from '../../command-api/relay/relay-batch.ts'
import { type EventLog, RecordTooLarge } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { published } from './published.ts'

const topic = 'test.decisions'
const at = new Date('2026-11-20T19:26:53Z')

/** Events as an earlier version could record them, of any size; `sizes` in bytes of their data, plus `more`. */
async function recordEvents(
  pool: Pool,
  sizes: readonly number[],
  more: object = {},
): Promise<void> {
  for (const [nth, size] of sizes.entries())
    await pool.query(
      `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
       values (gen_random_uuid(), $1, 1, 'user.login', 1, $2, $3, $4)`,
      [
        `user-${nth}`,
        JSON.stringify({ username: `user-${nth}`, sid: 'x'.repeat(size), via: 'test', ...more }),
        JSON.stringify({ actor: { type: 'system', id: 't', via: 't' }, request_id: 'r' }),
        at,
      ],
    )
}

/** A log that accepts no more than `limit.bytes` at once, like a topic of Kafka. */
async function relayTo(t: ExecutionContext, limit: { bytes: number }) {
  const { pool } = await database(t)
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const appended: number[] = []
  const limited: EventLog = {
    ...log,
    async append(name, records) {
      const bytes = records.reduce((sum, { value }) => sum + value.length, 0)
      if (bytes > limit.bytes)
        throw new RecordTooLarge(`${name} does not accept ${bytes} bytes at once`)
      appended.push(bytes)
      return await log.append(name, records)
    },
  }
  const start = () => {
    const relay = startRelay({ pool, log: limited, topic, logger: pino({ level: 'silent' }) })
    t.teardown(relay.stop)
    return relay
  }
  const streams = async (count: number) =>
    (await published(log, topic, count)).map(({ stream }) => stream)
  return { pool, start, streams, appended }
}

const inOrder = (count: number) => Array.from({ length: count }, (_, nth) => `user-${nth}`)

test('a backlog is published in batches that a topic of Kafka accepts, a larger event on its own', async t => {
  const { pool, start, streams, appended } = await relayTo(t, { bytes: Number.POSITIVE_INFINITY })
  const sizes = Array.from({ length: 60 }, (_, nth) => (nth % 10 === 7 ? 700_000 : 90_000))
  await recordEvents(pool, [...sizes, 3_000_000, 10, 10])
  start()
  t.deepEqual(await streams(63), inOrder(63))
  t.deepEqual(
    appended.filter(bytes => bytes > 768 * 1024),
    [appended.find(bytes => bytes > 3_000_000)],
  )
  t.true(appended.length < 30, `${appended.length} batches`)
})

test('numbers take no more space on the log than as recorded', async t => {
  const { pool, start, streams, appended } = await relayTo(t, { bytes: 100_000 })
  // 12 kB as received; PostgreSQL writes each with 309 digits.
  const numbers = Array(2_000).fill(1e308)
  await recordEvents(pool, [10], { numbers })
  start()
  t.deepEqual(await streams(1), inOrder(1))
  t.true(Math.max(...appended) < JSON.stringify(numbers).length + 1_000)
})

test('an event that the log refuses is named with its position, blocks the rest, and is never skipped', async t => {
  const limit = { bytes: 100_000 }
  const { pool, start, streams } = await relayTo(t, limit)
  await recordEvents(pool, [10, 10, 200_000, 10])
  const relay = start()
  t.deepEqual(await streams(2), ['user-0', 'user-1'])
  await until('it names the blocking event', 15_000, () => relay.halted())
  t.is(relay.halted()?.position, 3)
  t.regex(
    relay.halted()?.reason ?? '',
    /^The event at position 3, user\.login version 1 of user-2, 2\d{5} bytes, not published: test\.decisions does not accept/,
  )
  t.is(await relayLagMs(pool, new Date(at.getTime() + 5_000)), 5_000)
  limit.bytes = 300_000
  t.deepEqual(await streams(4), inOrder(4))
  await until('it is well again', 15_000, () => relay.halted() === null)
  t.is(await relayLagMs(pool, new Date()), 0)
})

test('a topic with a lower limit gets smaller batches', async t => {
  const { pool, start, streams } = await relayTo(t, { bytes: 5_000 })
  await recordEvents(pool, Array(40).fill(1_000))
  start()
  t.deepEqual(await streams(40), inOrder(40))
})
