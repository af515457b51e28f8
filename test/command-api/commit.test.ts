import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import type { HttpAsked } from '../../command-api/commit/asked.ts'
import { commit, create } from '../../command-api/commit/commit.ts'
import { takeLocks } from '../../command-api/commit/stream-locks.ts'
import type { Deps } from '../../command-api/deps.ts'
import { startRelay } from '../../command-api/relay/relay.ts'
import type { EventOf, Stream } from '../../events/event.ts'
import type { userLogin } from '../../events/users.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { Refusal } from '../../platform/refusal.ts'
import { recentWrites } from '../../query-api/reading/recent-writes.ts'
import { untilLockWaits } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { published } from './published.ts'

type Login = EventOf<typeof userLogin>
/** How often somebody signed in. */
type Count = { logins: number }

const timer = { actor: { type: 'system', id: 'test', via: 'timer' }, requestId: 'test' } as const
const login = (sid = 's'): Login => ({
  type: 'user.login',
  data: { username: 'ada', sid, via: 'test' },
})

function loginsOf(username: string, snapshot?: { shape: number }): Stream<Count, Login> {
  const evolve = ({ logins }: Count) => ({ logins: logins + 1 })
  const initial = { logins: 0 }
  const aggregate = snapshot ? { initial, evolve, snapshot } : { initial, evolve }
  return { stream: `user-${username}`, aggregate }
}
const ada = loginsOf('ada')

async function setUp(t: ExecutionContext) {
  let now = new Date('2026-11-20T19:26:53.123Z')
  const { pool } = await database(t)
  const { deps } = await routeParts(t, pool, () => now)
  return {
    deps,
    pool,
    later(milliseconds: number) {
      now = new Date(now.getTime() + milliseconds)
    },
  }
}

/** A request by ada; `answered` are the headers of its response. */
function asking(key = '', body: unknown = {}) {
  const answered: Record<string, string> = {}
  const request: HttpAsked = {
    caller: { kind: 'person', username: 'ada', via: 'password' },
    requestId: 'test',
    body,
    ctx: {
      method: 'POST',
      path: '/api/things',
      get: name => (name === 'idempotency-key' ? key : ''),
      set(name, value) {
        answered[name] = value
      },
    },
  }
  return { request, answered }
}

/** Creates something that appends an event to ada's non-empty stream. */
const createIn = (deps: Deps, request: HttpAsked, made: () => Promise<unknown> = async () => {}) =>
  create(deps, request, ada, {
    async make(work) {
      await work.decide(ada, { decide: () => [login()], alongside: made })
      return { token: 'secret', name: 'thing' }
    },
  })

const count = async ({ pool }: Pick<Deps, 'pool'>) =>
  (await pool.query('select count(*)::int as events from write.event')).rows[0].events

test('creating requests with a key publish the events of a stream in the order of its versions', async t => {
  const { deps, pool } = await setUp(t)
  const topic = 'test.decisions'
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const relay = startRelay({ pool, log, topic, logger: pino({ level: 'silent' }), batchSize: 7 })
  t.teardown(() => relay.stop())
  const waiting = Array.from({ length: 80 }, (_, n) => n)
  // Not all at once: requests without a connection within ten seconds fail, and one commit follows the other.
  const commits = async () => {
    for (let n = waiting.shift(); n !== undefined; n = waiting.shift())
      if (n % 2) await createIn(deps, asking(`k${n}`).request)
      else await commit(deps, timer, ada, { decide: () => [login()] })
  }
  await Promise.all(Array.from({ length: 8 }, commits))
  const events = await published(log, topic, 80)
  t.deepEqual(
    events.map(event => event.stream_version),
    Array.from({ length: 80 }, (_, index) => index + 1),
  )
})

test('a later request that overtakes on the way to the stream also gets the later transaction id', async t => {
  const { deps, pool } = await setUp(t)
  const entered = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const first = createIn(deps, asking('one').request, async () => {
    entered.resolve()
    await goOn.promise
  })
  await entered.promise
  const second = createIn(deps, asking('two').request)
  await untilLockWaits(
    pool,
    'the second waits for the stream',
    lock => lock.locktype === 'advisory',
  )
  const { rows: ids } = await pool.query(
    `select backend_xid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  t.deepEqual(ids, [{ backend_xid: null }], 'it waits without an id')
  goOn.resolve()
  await Promise.all([first, second])
  const { rows } = await pool.query('select stream_version from write.event order by xid, position')
  t.deepEqual(rows, [{ stream_version: 1 }, { stream_version: 2 }])
})

test('a transaction that has written cannot take locks', async t => {
  const { deps } = await setUp(t)
  const late = deps.store.transaction(async tx => {
    await tx.query(`insert into write.idempotency (scope, key, request_hash, created_at)
                    values ('s', 'k', '', now())`)
    await takeLocks(tx, ['user-ada'])
  })
  await t.throwsAsync(late, { message: /must be taken before the first write/ })
})

test('streams are always locked in one order, whatever order they are named in', async t => {
  const { deps } = await setUp(t)
  const both = (...names: string[]) => deps.store.transaction(tx => takeLocks(tx, names))
  const all = Array.from({ length: 50 }, (_, n) =>
    n % 2 ? both('user-ada', 'user-bob') : both('user-bob', 'user-ada', 'user-ada'),
  )
  await t.notThrowsAsync(Promise.all(all))
})

test('a commit within another one is refused, and so is a stream that was not declared', async t => {
  const { deps } = await setUp(t)
  const inner = () => commit(deps, timer, ada, { decide: () => [login()] })
  await t.throwsAsync(commit(deps, timer, ada, { decide: () => [login()], alongside: inner }), {
    message: /within another/,
  })
  const undeclared = create(deps, timer, ada, {
    make: work => work.decide(loginsOf('bob'), { decide: () => [login()] }),
  })
  await t.throwsAsync(undeclared, { message: /user-bob must be declared/ })
  t.is(await count(deps), 0)
})

test('a refusal in alongside prevents the events', async t => {
  const { deps } = await setUp(t)
  const refused = commit(deps, timer, ada, {
    decide: () => [login()],
    alongside: async tx => {
      await tx.query(`insert into write.snapshot values ('x', 1, 1, '{}')`)
      throw new Refusal('conflict', 'no')
    },
  })
  await t.throwsAsync(refused, { instanceOf: Refusal, message: 'no' })
  const { rows } = await deps.pool.query(
    'select stream as kept from write.snapshot union all select stream from write.event',
  )
  t.deepEqual(rows, [])
})

test('a command is decided again if a writer without the lock came first, and is 409 after the third attempt', async t => {
  const { deps } = await setUp(t)
  const intrude = async (version: number) => {
    const client = await deps.pool.connect()
    await client.query(
      `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
       values (gen_random_uuid(), 'user-ada', $1, 'user.login', 1, $2, '{}', now())`,
      [version, login().data],
    )
    client.release()
  }
  const seen: number[] = []
  const { state } = await commit(deps, timer, ada, {
    decide(before) {
      seen.push(before.logins)
      return [login()]
    },
    alongside: async (_, { before }) => {
      if (before.logins === 0) await intrude(1)
    },
  })
  t.deepEqual([seen, state.logins], [[0, 1], 2])
  const outrun = commit(deps, timer, ada, {
    decide: () => [login()],
    alongside: (_, { before }) => intrude(before.logins + 1),
  })
  await t.throwsAsync(outrun, { instanceOf: Refusal, code: 'conflict', message: /try again/ })
})

test('a lock that is not free in time gives 503', async t => {
  const { deps } = await setUp(t)
  const goOn = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const holder = commit(deps, timer, ada, {
    decide: () => [login()],
    alongside: async () => {
      entered.resolve()
      await goOn.promise
    },
  })
  await entered.promise
  const { store } = deps
  const impatient: Deps = {
    ...deps,
    store: {
      ...store,
      transaction: work =>
        store.transaction(async tx => {
          await tx.query(`set local lock_timeout = '20ms'`)
          return work(tx)
        }),
    },
  }
  await t.throwsAsync(commit(impatient, timer, ada, { decide: () => [login()] }), {
    instanceOf: Refusal,
    code: 'unavailable',
  })
  goOn.resolve()
  await holder
})

test('a response contains the position of its write, and a read with it shows the write', async t => {
  const { deps } = await setUp(t)
  const { request, answered } = asking()
  await commit(deps, request, ada, { decide: () => [login()] })
  const position = Buffer.from('s:1:user-ada').toString('base64url')
  t.is(answered['Forge-Position'], position)
  t.deepEqual(await recentWrites(deps.pool, deps.now)('ada'), [position])
  const { rows } = await deps.pool.query('select meta, occurred_at from write.event')
  t.like(rows[0].meta.actor, { type: 'user', id: 'ada', via: 'password' })
  t.deepEqual(rows[0].occurred_at, deps.now())
})

test('within a day a key creates only once; its response is repeated without secrets, and another body is 409', async t => {
  const { deps, later } = await setUp(t)
  const first = asking('k', { a: 1 })
  t.deepEqual(await createIn(deps, first.request), { token: 'secret', name: 'thing' })
  const again = asking('k', { a: 1 })
  t.deepEqual(await createIn(deps, again.request), { token: null, name: 'thing' })
  t.deepEqual(again.answered, { ...first.answered, 'Idempotency-Replayed': 'true' })
  await t.throwsAsync(createIn(deps, asking('k', { a: 2 }).request), {
    instanceOf: Refusal,
    code: 'conflict',
  })
  t.is(await count(deps), 1)
  later(24 * 3_600_000 + 1)
  t.deepEqual(await createIn(deps, asking('k', { a: 2 }).request), {
    token: 'secret',
    name: 'thing',
  })
  t.is(await count(deps), 2)
})

test('stored responses are deleted after a day, without checking at each request', async t => {
  const { deps, later } = await setUp(t)
  const keys = async () =>
    (await deps.pool.query('select key from write.idempotency order by key')).rows.map(
      row => row.key,
    )
  for (const key of ['a', 'b']) await createIn(deps, asking(key).request)
  later(24 * 3_600_000 + 1)
  await createIn(deps, asking('c').request)
  t.deepEqual(await keys(), ['c'])
})

test('a long stream is read from its snapshot, with the same state as from all events', async t => {
  const { deps } = await setUp(t)
  const grown = loginsOf('ada', { shape: 1 })
  let asked = 0
  const store: Deps['store'] = {
    ...deps.store,
    async load(...args) {
      const loaded = await deps.store.load(...args)
      asked += loaded.events.length
      return loaded as never
    },
  }
  const counting = { ...deps, store }
  let most = 0
  for (let n = 0; n < 230; n++) {
    asked = 0
    const { state } = await commit(counting, timer, grown, { decide: () => [login()] })
    t.is(state.logins, n + 1)
    most = Math.max(most, asked)
  }
  t.true(most <= 60, `${most} events were read at once`)
  const whole = await commit(deps, timer, ada, { decide: () => [] })
  const kept = await commit(deps, timer, grown, { decide: () => [] })
  const reshaped = await commit(deps, timer, loginsOf('ada', { shape: 2 }), { decide: () => [] })
  t.deepEqual([kept.state, reshaped.state], [whole.state, whole.state])
  const { rows } = await deps.pool.query('select stream, version, shape from write.snapshot')
  t.deepEqual(rows, [{ stream: 'user-ada', version: 230, shape: 2 }])
})
