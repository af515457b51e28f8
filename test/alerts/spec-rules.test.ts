import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { metricAlerts } from '../../command-api/alerts/follow-metrics.ts'
import { failuresOf } from '../../command-api/diagnoses/react.ts'
import { startFollower } from '../../command-api/followers/run.ts'
import { dutiesOf } from '../../command-api/notifications/react.ts'
import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { encodeFact } from '../../events/fact.ts'
import { topicsOf } from '../../events/topics.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { encodeBlock } from '../../platform/series/block.ts'
import { createPoints, makeRoom } from '../../platform/series/points.ts'
import { silent } from '../command-api/duty-store.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const topics = topicsOf('test')
const golden = join(import.meta.dirname, '../golden/events')
const recorded = (file: string) => JSON.parse(readFileSync(join(golden, file), 'utf8'))

const rule = { when: 'metric', key: null, op: null, value: null, below: null, for_s: null }
/** Computed, because the linter takes an object with a literal `then` property for a promise. */
const consequence = 'then'

/** A job with these rules, whose reports are on the test's own log. */
async function stage(t: ExecutionContext, rules: object[]) {
  const { pool } = await database(t)
  const store = eventStoreOn(pool)
  const log = createMemoryLog(Object.values(topics))
  const { data } = recorded('job.admitted.v2.json')
  data.spec.spec.rules = rules
  const { run_id, short_id, owner, project } = data
  await pool.query(
    `insert into write.run_state (run_id, short_id, owner, project, source) values ($1, $2, $3, $4, 'job')`,
    [run_id, short_id, owner, project],
  )
  await store.transaction(tx =>
    store.append(tx, {
      stream: `job-${run_id}`,
      expectedVersion: 0,
      events: [{ type: 'job.admitted', data }],
      stamp: {
        actor: { type: 'system', id: 'test', via: 'test' },
        requestId: 'req_1',
        now: new Date(),
      },
    }),
  )
  let number = 0
  const follow = () => {
    const work = { pool, store, newId: () => `alr_${++number}` }
    const now = () => new Date()
    const deps = { pool, store, log, topics, work, now, logger: silent }
    const following = startFollower({ ...metricAlerts(), begins: 'start' }, deps)
    t.teardown(() => following.stop())
    return following
  }
  const report = (key: string, step: number, value: number) => {
    const points = createPoints()
    makeRoom(points, 1)
    points.length = 1
    points.steps[0] = step
    points.ts[0] = 0
    points.values[0] = value
    return {
      key: run_id,
      value: encodeFact({
        ...{ type: 'metrics.appended', event_id: randomUUID(), received_at_ms: 0, run_id },
        ...{ attempt: 1, actor: { type: 'run', id: run_id, via: 'ingest_token' } },
        ...{ request_id: 'req_1', body: encodeBlock([key], points).bytes },
      }),
    }
  }
  return {
    follow,
    report,
    send: (...records: ReturnType<typeof report>[]) => log.append(topics.metrics.name, records),
    happened: (count: number) =>
      until(`${count} things happened`, 20_000, async () => {
        const { rows } = await pool.query(
          `select type, data from write.event where type like 'alert.%' order by position`,
        )
        return rows.length >= count && rows.map(({ type, data: of }) => ({ type, ...of }))
      }),
  }
}

test('rules of a JobSpec fire once with their actions, even if the log repeats and the follower restarts', async t => {
  const { follow, report, send, happened } = await stage(t, [
    { ...rule, key: 'kl', op: '>', value: 0.5, [consequence]: ['notify'] },
    { ...rule, key: 'loss', op: 'nonfinite', [consequence]: ['diagnose'] },
  ])
  const high = report('kl', 1, 0.7)
  await send(report('kl', 0, 0.1), high, high)
  const first = follow()
  t.like((await happened(1))[0], {
    ...{ type: 'alert.fired', rule: 'rules[0]', source: 'spec', key: 'kl', step: 1, value: 0.7 },
    ...{ title: 'kl is 0.7 (> 0.5) at step 1', level: 'warn', attempt: 1 },
    consequences: ['notify'],
  })
  await first.stop()
  follow()
  await send(high, report('kl', 2, 0.6), report('loss', 2, Number.NaN), report('kl', 3, 0.2))
  const all = await happened(3)
  t.deepEqual(
    all.map(({ type, rule }) => `${type} ${rule}`),
    ['alert.fired rules[0]', 'alert.fired rules[1]', 'alert.resolved rules[0]'],
  )
  t.is(all[2]?.alert_id, all[0]?.alert_id)
})

test('an alert notifies the owner or requests a diagnosis, according to its rule', t => {
  const fired = (consequences: string[]): Recorded<DecisionEvent> => {
    const event = recorded('alert.fired.v1.json')
    return { ...event, data: { ...event.data, consequences } }
  }
  t.is(dutiesOf(fired(['diagnose'])).length, 0)
  t.like(dutiesOf(fired(['notify']))[0]?.payload.message, { kind: 'metric_alert', level: 'error' })
  t.deepEqual(failuresOf(fired(['notify'])), [])
  t.like(failuresOf(fired(['notify', 'diagnose']))[0]?.payload, { isAlert: true })
})
