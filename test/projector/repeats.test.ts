import test from 'ava'
import { pino } from 'pino'
import { decisionEvents } from '../../events/all.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { decisionsProjection } from '../../projector/decisions.ts'
import { startRunner } from '../../projector/runner/runner.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { loginEvent } from './login-event.ts'

const topic = 'forge.decisions'

test('an event published twice is applied once, a different one with its version halts the projection', async t => {
  const db = await database(t, { schema: 'read' })
  const pool = createPool(db.url, { max: 3, searchPath: 'read', applicationName: 'runner' })
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const applied: number[] = []
  const runner = startRunner(
    decisionsProjection(
      topic,
      [
        {
          types: ['user.login'],
          async apply(_, events) {
            applied.push(...events.map(event => event.stream_version))
          },
        },
      ],
      decisionEvents,
    ),
    {
      pool,
      log,
      signals: inProcessSignals(),
      logger: pino({ level: 'silent' }),
      onDeadLetter: one => t.fail(`parked ${one}`),
    },
  )
  const [one, two, three] = [loginEvent(1), loginEvent(2), loginEvent(3)]
  const publish = async (...events: object[]) => {
    await log.append(
      topic,
      events.map(event => ({ key: 'user-ada', value: Buffer.from(JSON.stringify(event)) })),
    )
  }
  const reached = (offset: bigint) =>
    until(`offset ${offset} is reached`, 15_000, () => runner.status().checkpoints[0] === offset)

  await publish(one, two, one, two)
  await reached(4n)
  await publish(two, three, one)
  await reached(7n)
  t.deepEqual(applied, [1, 2, 3])
  t.is(runner.status().halted, null)

  const reused = loginEvent(2)
  await publish(reused)
  await until('it names the fault', 15_000, () => runner.status().halted)
  t.regex(
    runner.status().halted ?? '',
    new RegExp(`^version 2 of user-ada is event ${reused.event_id} and was another one before: `),
  )
  t.deepEqual(runner.status().checkpoints, [7n])
  t.deepEqual(applied, [1, 2, 3])
  await runner.stop()
  await pool.end()
})
