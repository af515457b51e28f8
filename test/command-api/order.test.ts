import test from 'ava'
import { pino } from 'pino'
import { startRelay } from '../../command-api/relay/relay.ts'
import type { Actor } from '../../events/event.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'
import { published } from './published.ts'

const actor: Actor = { type: 'system', id: 'test', via: 'test' }
const topic = 'test.decisions'
const appenders = 200
const perAppender = 5
const streams = 20

/** A small deterministic generator, so that a failing run can be repeated. */
function randomFrom(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

test('200 concurrent appenders with commit delays and rollbacks: each committed event once, streams in order', async t => {
  const { pool } = await database(t)
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const store = eventStoreOn(pool, { committed: () => relay.wake() })
  const relay = startRelay({ pool, log, topic, logger: pino({ level: 'silent' }), batchSize: 17 })
  t.teardown(() => relay.stop())
  const committed = new Set<string>()
  const random = randomFrom(20_261_120)

  const appendOnce = async (appender: number, turn: number) => {
    const stream = `user-${Math.floor(random() * streams)}`
    const sid = `${appender}/${turn}`
    const delayMs = random() * 40
    const rollsBack = random() < 0.1
    await store
      .transaction(async tx => {
        const { version } = await store.load(stream, tx)
        await store.append(tx, {
          stream,
          expectedVersion: version,
          events: [{ type: 'user.login', data: { username: stream, sid, via: 'test' } }],
          stamp: { actor, requestId: 'r', now: new Date(0) },
        })
        await tx.query('select pg_sleep($1)', [delayMs / 1000])
        if (rollsBack) throw new Error('rolled back on purpose')
      })
      .then(
        () => committed.add(sid),
        () => {},
      )
  }
  await Promise.all(
    Array.from({ length: appenders }, async (_, appender) => {
      for (let turn = 0; turn < perAppender; turn++) await appendOnce(appender, turn)
    }),
  )
  t.true(committed.size > 50, `only ${committed.size} committed`)

  const found = await published(log, topic, committed.size)
  t.deepEqual(found.map(event => (event.data as { sid: string }).sid).sort(), [...committed].sort())
  const versions = Map.groupBy(found, event => event.stream)
  for (const [stream, events] of versions)
    t.deepEqual(
      events.map(event => event.stream_version),
      events.map((_, index) => index + 1),
      stream,
    )
})
