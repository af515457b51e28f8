import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import {
  decisionFollower,
  type Follower,
  factFollower,
} from '../../command-api/effects/follower.ts'
import { decided, nothing } from '../../command-api/effects/outcome.ts'
import { startFollower } from '../../command-api/followers/run.ts'
import { encodeFact, encodeJson } from '../../events/fact.ts'
import { topicsOf } from '../../events/topics.ts'
import type { UserEvent } from '../../events/users.ts'
import { type EventLog, LogUnavailable } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { until } from '../servers/until.ts'
import { silent, storeWith } from './duty-store.ts'
import { dutyRunners } from './login-duties.ts'

const topics = topicsOf('test')
const topic = topics.decisions.name

const ended = (sid: string) =>
  decided<null, UserEvent>(
    { stream: `user-done-${sid}`, aggregate: { initial: null, evolve: () => null } },
    { decide: () => [{ type: 'user.logout', data: { username: 'alice', sid } }] },
  )

/** Ends each new session, except that of `poison` and those for which `fails` throws. */
const ender = (
  settings: Partial<Follower<null>> = {},
  fails = (_: string) => {},
): Follower<null> => ({
  ...decisionFollower<null>({
    name: 'ender',
    begins: 'start',
    onPoison: 'park',
    async follow(event) {
      if (event.type !== 'user.login') return nothing
      if (event.data.sid === 'poison') throw new Error('cannot be acted on\0')
      fails(event.data.sid)
      return [ended(event.data.sid)]
    },
  }),
  ...settings,
})

async function followerStage(t: ExecutionContext) {
  const { pool, clock } = await dutyRunners(t)
  const log = createMemoryLog(Object.values(topics))
  const store = storeWith(pool, [])
  const loginOf = (sid: string, event_id = randomUUID()) => ({
    key: 'user-alice',
    value: Buffer.from(
      JSON.stringify({
        event_id,
        type: 'user.login',
        schema_version: 1,
        stream: 'user-alice',
        stream_version: 1,
        occurred_at: '2026-11-20T12:00:00.000Z',
        actor: { type: 'user', id: 'alice', via: 'password' },
        request_id: `req_${sid}`,
        causation_id: null,
        data: { username: 'alice', sid, via: 'password' },
      }),
    ),
  })
  return {
    pool,
    log,
    loginOf,
    follow(follower: Follower<null>, from: EventLog = log) {
      const now = () => clock.now
      const following = startFollower(follower, {
        pool,
        store,
        log: from,
        topics,
        work: null,
        now,
        logger: silent,
      })
      t.teardown(() => following.stop())
      return following
    },
    async ends() {
      const { rows } = await pool.query(
        `select data ->> 'sid' as sid from write.event where type = 'user.logout' order by position`,
      )
      return rows.map(({ sid }) => sid)
    },
    reached: (offset: number, ofTopic = topic) =>
      until(`offset ${offset}`, 20_000, async () => {
        const { rows } = await pool.query(
          'select 1 from write.follower where topic = $1 and next_offset = $2',
          [ofTopic, offset],
        )
        return rows.length > 0
      }),
  }
}

test('decisions of a follower are recorded in order, with the record as their cause', async t => {
  const { log, loginOf, follow, ends, reached, pool } = await followerStage(t)
  const id = randomUUID()
  await log.append(topic, [loginOf('s1', id), loginOf('s2'), loginOf('s3')])
  follow(ender())
  await reached(3)
  t.deepEqual(await ends(), ['s1', 's2', 's3'])
  const { rows } = await pool.query('select meta from write.event order by position limit 1')
  t.deepEqual(rows[0].meta, {
    actor: { type: 'system', id: 'ender', via: 'follower' },
    request_id: 'req_s1',
    causation_id: id,
  })
})

test('a record repeated on the log has one effect, even after a restart', async t => {
  const { log, loginOf, follow, ends, reached } = await followerStage(t)
  const twice = loginOf('s1')
  await log.append(topic, [twice, twice])
  const first = follow(ender())
  await reached(2)
  await first.stop()
  await log.append(topic, [twice, loginOf('s2')])
  follow(ender())
  await reached(4)
  t.deepEqual(await ends(), ['s1', 's2'])
})

test('one of two processes follows, and the other continues where it stopped', async t => {
  const { log, loginOf, follow, ends, reached } = await followerStage(t)
  const sids = Array.from({ length: 20 }, (_, index) => `s${index}`)
  const processes = [follow(ender()), follow(ender())]
  await log.append(
    topic,
    sids.map(sid => loginOf(sid)),
  )
  await reached(20)
  await processes[0]?.stop()
  await log.append(topic, [loginOf('last')])
  await reached(21)
  t.deepEqual(await ends(), [...sids, 'last'])
})

test('if another process moves the checkpoint, records read before are not acted on', async t => {
  const { log, loginOf, follow, ends, reached, pool } = await followerStage(t)
  let isMoved = false
  const stolen: Follower<null> = {
    ...ender(),
    async act(record, deps) {
      // Meanwhile another process that believes it holds the lock acts on the same two records.
      if (!isMoved) await pool.query('update write.follower set next_offset = 2')
      isMoved = true
      return ender().act(record, deps)
    },
  }
  await log.append(topic, [loginOf('s1'), loginOf('s2'), loginOf('s3')])
  follow(stolen)
  await reached(3)
  t.deepEqual(await ends(), ['s3'])
})

test('poison is parked with its error and the next records are acted on', async t => {
  const { log, loginOf, follow, ends, reached, pool } = await followerStage(t)
  await log.append(topic, [
    loginOf('s1'),
    { key: 'x', value: Buffer.from('not JSON') },
    loginOf('poison'),
    loginOf('s2'),
  ])
  follow(ender())
  await reached(4)
  t.deepEqual(await ends(), ['s1', 's2'])
  const { rows } = await pool.query(
    'select "offset", error from write.follower_dead_letter order by "offset"',
  )
  t.is(rows.length, 2)
  t.is(rows[1].error, 'Error: cannot be acted on')
})

test('a follower that must not skip anything halts with a reason and continues once it can', async t => {
  const { log, loginOf, follow, ends, reached } = await followerStage(t)
  let isBroken = true
  const follower = ender({ onPoison: 'halt' }, sid => {
    if (sid === 's2' && isBroken) throw new Error('s2 is not understood')
  })
  await log.append(topic, [loginOf('s1'), loginOf('s2'), loginOf('s3')])
  const following = follow(follower)
  await until('it stands still', 20_000, () => following.status().halted === 's2 is not understood')
  t.deepEqual(await ends(), ['s1'])
  isBroken = false
  await reached(3)
  t.deepEqual(await ends(), ['s1', 's2', 's3'])
  await until('it no longer says so', 20_000, () => following.status().halted === null)
})

test('a follower recovers with the log, even without new records', async t => {
  const { log, follow } = await followerStage(t)
  let isAway = true
  const end = async (name: string) => {
    if (isAway) throw new LogUnavailable('away')
    return await log.end(name)
  }
  const following = follow(ender(), { ...log, end })
  await until('it says that the log is away', 20_000, () => following.status().halted === 'away')
  isAway = false
  await until('it no longer says so', 40_000, () => following.status().halted === null)
  t.deepEqual(await log.end(topic), [0n], 'without a record')
})

test('a follower that begins at the end acts only on new facts', async t => {
  const { log, follow, ends, reached, pool } = await followerStage(t)
  const name = topics.logs.name
  const fact = (run_id: string) => ({
    key: 'one-partition',
    value: encodeFact({
      type: 'logs.appended',
      event_id: randomUUID(),
      received_at_ms: 0,
      run_id,
      attempt: 1,
      actor: { type: 'run', id: run_id, via: 'ingest_token' },
      request_id: 'req_1',
      body: encodeJson({}),
    }),
  })
  await log.append(name, [fact('before')])
  follow(
    factFollower<null>({
      name: 'fact-ender',
      topic: 'logs',
      begins: 'end',
      onPoison: 'park',
      follow: async ({ run_id }) => [ended(run_id)],
    }),
  )
  await until('it knows where it begins', 20_000, async () => {
    const { rows } = await pool.query('select 1 from write.follower')
    return rows.length === topics.logs.partitions
  })
  await log.append(name, [fact('after')])
  await reached(2, name)
  t.deepEqual(await ends(), ['after'])
})
