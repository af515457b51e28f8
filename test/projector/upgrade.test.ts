import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { decisionEvents } from '../../events/all.ts'
import type { LogRecord } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { decisionsProjection } from '../../projector/decisions.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import type { TopicProjection } from '../../projector/projection.ts'
import { startRunner } from '../../projector/runner/runner.ts'
import { report } from '../metrics/given.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { loginEvent } from './login-event.ts'

/** A log, and projectors that run one after the other. */
async function installation(t: ExecutionContext, projection: () => TopicProjection) {
  const db = await database(t, { schema: 'read' })
  const pool = createPool(db.url, { max: 3, searchPath: 'read', applicationName: 'runner' })
  t.teardown(() => pool.end())
  const log = createMemoryLog([{ name: 'topic', partitions: 1, retentionDays: null }])
  return {
    pool: db.pool,
    append: (...records: LogRecord[]) => log.append('topic', records),
    /** Projects until `done` returns true; returns why the projection was halted at that point. */
    async project(what: string, done: (offset: bigint, halted: string | null) => boolean) {
      const runner = startRunner(projection(), {
        pool,
        log,
        signals: inProcessSignals(),
        logger: pino({ level: 'silent' }),
        onDeadLetter: one => t.fail(`parked ${one}`),
      })
      const look = () => {
        const { checkpoints, halted } = runner.status()
        return done(checkpoints[0] ?? 0n, halted) && { halted }
      }
      const { halted } = await until(what, 15_000, look).finally(runner.stop)
      return halted
    },
  }
}

/** In the state left by the statements of a projector from before `filled_to`. */
const asOfBefore = (pool: Pool) => pool.query('update projection_checkpoint set filled_to = null')

type Login = ReturnType<typeof loginEvent>
const onLog = (event: Login) => ({ key: 'user-ada', value: Buffer.from(JSON.stringify(event)) })

const store = (pool: Pool, event: Login) =>
  pool.query(
    `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
     values ($1, $2, $3, $4, 1, $5, '{}', now())`,
    [event.event_id, event.stream, event.stream_version, event.type, event.data],
  )

/** Decisions of which a projector from before `applied_event` applied the second. */
async function decided(t: ExecutionContext) {
  const at = await installation(t, () => decisionsProjection('topic', [], decisionEvents))
  const events = [loginEvent(1), loginEvent(2)]
  for (const event of events) await store(at.pool, event)
  await at.append(...events.map(onLog))
  await at.project('both are applied', offset => offset === 2n)
  await at.pool.query('delete from applied_event where event_id = $1', [events[1]?.event_id])
  await asOfBefore(at.pool)
  return { ...at, events }
}

test('a decision that the projector of an earlier version applied may be published again', async t => {
  const at = await decided(t)
  await at.append(...at.events.map(onLog), onLog(loginEvent(3)))
  t.is(await at.project('all are read', (offset, halted) => offset === 5n || halted !== null), null)
})

test('a reused version halts the projection after an upgrade, too', async t => {
  const at = await decided(t)
  await at.project('it is filled in', offset => offset === 2n)
  await at.append(onLog(loginEvent(3)))
  await at.project('the third is applied', offset => offset === 3n)
  // The database was restored to before the third, whose version is reused, and then upgraded.
  const again = loginEvent(3)
  await store(at.pool, again)
  await asOfBefore(at.pool)
  await at.append(onLog(again))
  const halted = await at.project('it ends', (offset, halted) => offset === 4n || halted !== null)
  t.regex(halted ?? '', /^version 3 of user-ada is event .* and was another one before/)
})

test('keys that the projector of an earlier version stored are counted and listed', async t => {
  const at = await installation(t, () => metricsProjection('topic'))
  const keys = (...names: string[]) => names.map(key => ({ key, step: 1, value: 1 }))
  await at.append(report('run_a', keys('a', 'b', 'c')), report('run_b', keys('z')))
  await at.append(report('run_c', keys('d', 'e')))
  await at.project('all are applied', offset => offset === 3n)
  // The earlier version stored a key of one run and all keys of another, and does not know metric_keys.
  await at.pool.query(
    `update metric_keys set keys = 2, listed = listed[1:2]
      where run_no = (select run_no from metric_run where run_id = 'run_a')`,
  )
  await at.pool.query(
    `delete from metric_keys where run_no = (select run_no from metric_run where run_id = 'run_c')`,
  )
  await asOfBefore(at.pool)
  await at.append(report('run_a', keys('f')))
  await at.project('the next is applied', offset => offset === 4n)
  const { rows } = await at.pool.query(
    `select run_id, keys, array(select n.key from unnest(listed) with ordinality l (key_no, place)
                                  join metric_name n using (key_no) order by place) as listed
       from metric_keys join metric_run using (run_no) order by run_id`,
  )
  t.deepEqual(rows, [
    { run_id: 'run_a', keys: 4, listed: ['a', 'b', 'c', 'f'] },
    { run_id: 'run_b', keys: 1, listed: ['z'] },
    { run_id: 'run_c', keys: 2, listed: ['d', 'e'] },
  ])
})
