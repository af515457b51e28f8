import test from 'ava'
import { dutyIdOf } from '../../command-api/commit/new-duty.ts'
import { clearBatch } from '../../command-api/duties/clear.ts'
import { errorTextOf } from '../../command-api/duties/perform.ts'
import { decided, nothing, rows as writes } from '../../command-api/effects/outcome.ts'
import { PermanentFailure } from '../../command-api/effects/reactor.ts'
import type { UserEvent } from '../../events/users.ts'
import { patient } from '../servers/patience.ts'
import { until, untilSettled } from '../servers/until.ts'
import { randomFrom } from '../whole/chaos/random.ts'
import { silent, storeWith } from './duty-store.ts'
import { dutyRunners, logIns, loginReactor, noticing } from './login-duties.ts'

const ended = (sid: string) =>
  decided<null, UserEvent>(
    { stream: `session-${sid}`, aggregate: { initial: null, evolve: () => null } },
    { decide: () => [{ type: 'user.logout', data: { username: 'alice', sid } }] },
  )

test('an event creates its duty, whose outcome is recorded with that event as its cause', async t => {
  const { run, rows, pool } = await dutyRunners(t)
  const reactor = loginReactor(async ({ payload }) => [ended(payload.sid)])
  const { store } = run([reactor])
  await logIns(store, ['s1'])
  await until('the duty is done', 10_000, async () => (await rows())[0]?.done_at)
  const { rows: events } = await pool.query(
    `select event_id, type, meta from write.event order by position`,
  )
  t.like(events[1], {
    type: 'user.logout',
    meta: {
      actor: { type: 'system', id: 'login', via: 'duty' },
      request_id: 'req_1',
      causation_id: events[0].event_id,
    },
  })
  t.like(await rows(), [
    { duty_id: dutyIdOf(events[0].event_id, 'login', 0), attempts: 1, last_error: null },
  ])
})

test('neither a rolled-back event nor one without duties creates a duty', async t => {
  const { pool, rows } = await dutyRunners(t)
  const store = storeWith(pool, [loginReactor(async () => nothing)])
  await t.throwsAsync(
    store.transaction(async tx => {
      await store.append(tx, {
        stream: 'user-alice',
        expectedVersion: 0,
        events: [{ type: 'user.login', data: { username: 'alice', sid: 's', via: '0' } }],
        stamp: { actor: { type: 'system', id: 't', via: 't' }, requestId: 'r', now: new Date(0) },
      })
      throw new Error('on purpose')
    }),
    { message: 'on purpose' },
  )
  await store.transaction(tx =>
    store.append(tx, {
      stream: 'user-alice',
      expectedVersion: 0,
      events: [{ type: 'user.logout', data: { username: 'alice', sid: 's' } }],
      stamp: { actor: { type: 'system', id: 't', via: 't' }, requestId: 'r', now: new Date(0) },
    }),
  )
  t.deepEqual(await rows(), [])
})

test('10,000 duties due at once are performed in the order of due_at, later ones not before they are due', async t => {
  t.timeout(patient(400_000))
  const { run, pool, clock, pass } = await dutyRunners(t)
  const seen: string[] = []
  const order: number[] = []
  const reactor = loginReactor(
    async ({ due_at, payload }) => {
      order.push(due_at.getTime())
      return noticing(seen)(
        { duty_id: '', payload, attempt: 1, due_at },
        new AbortController().signal,
      )
    },
    { atOnce: 16 },
  )
  const count = 10_000
  const random = randomFrom(7)
  const writer = storeWith(pool, [reactor])
  const sids = Array.from({ length: count }, (_, index) => `s${index}`)
  await logIns(writer, sids, { at: clock.now, dueMs: () => random.whole(0, 60_000) })
  await logIns(writer, ['later'], { at: clock.now, dueMs: () => 120_000 })
  pass(60_000)
  run([reactor], { pollMs: 10 })
  await until('all that are due are done', 100_000, () => seen.length >= count)
  t.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  t.is(new Set(seen).size, count)
  t.false(seen.includes('later'))
  pass(60_000)
  await until('its time has come', 10_000, () => seen.includes('later'))
  t.is(seen.length, count + 1)
})

test('two processes share the duties, and each is performed once', async t => {
  const { pool, run, rows } = await dutyRunners(t)
  const seen = { one: [] as string[], other: [] as string[] }
  const sids = Array.from({ length: 200 }, (_, index) => `s${index}`)
  await logIns(storeWith(pool, [loginReactor(noticing([]))]), sids)
  const begun = { one: Promise.withResolvers<void>(), other: Promise.withResolvers<void>() }
  // Either may be quick enough to do all of them before the other has started.
  const share = (own: 'one' | 'other', others: 'one' | 'other') =>
    loginReactor(async (duty, signal) => {
      begun[own].resolve()
      await untilSettled(`the ${others} has a duty, too`, 10_000, begun[others].promise)
      return noticing(seen[own])(duty, signal)
    })
  run([share('one', 'other')])
  run([share('other', 'one')])
  await until('all are done', 20_000, async () => (await rows()).every(row => row.done_at))
  t.deepEqual([...seen.one, ...seen.other].sort(), sids.toSorted())
  t.true(seen.one.length > 0 && seen.other.length > 0, 'both have worked')
})

test('a process whose lease has ended can neither close the duty nor record an outcome', async t => {
  const { run, rows, pass, pool } = await dutyRunners(t)
  const slow = Promise.withResolvers<void>()
  const results: string[] = []
  const begun = Promise.withResolvers<void>()
  const { store } = run(
    [
      loginReactor(async ({ payload }) => {
        begun.resolve()
        await slow.promise
        return [ended(payload.sid)]
      }),
    ],
    { measure: (_, result) => results.push(result) },
  )
  await logIns(store, ['s1'])
  await begun.promise
  pass(61_000)
  run([loginReactor(async ({ payload }) => [ended(payload.sid)])])
  await until('the other has closed it', 10_000, async () => (await rows())[0]?.done_at)
  slow.resolve()
  await until('the first one has noticed', 10_000, () => results.length > 0)
  t.deepEqual(results, ['lease_lost'])
  const { rows: outcomes } = await pool.query(
    `select 1 from write.event where type = 'user.logout'`,
  )
  t.is(outcomes.length, 1)
  t.like(await rows(), [{ attempts: 2 }])
})

test('long work renews its lease, so no other process takes it over', async t => {
  const { run, rows, pass, clock } = await dutyRunners(t)
  const slow = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const work = loginReactor(
    async ({ payload }) => {
      begun.resolve()
      await slow.promise
      return [ended(payload.sid)]
    },
    { renewMs: 1000 },
  )
  const { store } = run([work])
  await logIns(store, ['s1'])
  await begun.promise
  t.deepEqual((await rows())[0]?.leased_until, new Date(clock.now.getTime() + 3000))
  for (let renewals = 1; renewals <= 2; renewals++) {
    pass(2900)
    await until('it is renewed', 10_000, async () => {
      const [row] = await rows()
      return row?.leased_until.getTime() === clock.now.getTime() + 3000
    })
  }
  slow.resolve()
  await until('it is closed', 10_000, async () => (await rows())[0]?.done_at)
  t.like(await rows(), [{ attempts: 1 }])
})

test('an attempt that ignores its signal ends at its deadline', async t => {
  const { run, rows } = await dutyRunners(t)
  const { store } = run([
    loginReactor(() => new Promise(() => {}), { deadlineMs: 30, attempts: 1 }),
  ])
  await logIns(store, ['s1'])
  await until('it is parked', 10_000, async () => (await rows())[0]?.parked_at)
  t.like(await rows(), [{ last_error: 'no result within 30 ms', attempts: 1, done_at: null }])
})

test('a poison duty is retried with growing pauses, parked at the limit, and delays no other', async t => {
  const { run, rows, clock, pass } = await dutyRunners(t)
  const seen: string[] = []
  const { store } = run([
    loginReactor(
      async duty => {
        if (duty.payload.sid === 'poison') throw new Error(`attempt ${duty.attempt}\0`)
        return noticing(seen)(duty, new AbortController().signal)
      },
      { attempts: 3, atOnce: 1 },
    ),
  ])
  await logIns(store, ['poison', 's1', 's2'], { at: clock.now })
  const poison = async () => (await rows()).find(({ sid }) => sid === 'poison')
  await until('the others are done', 10_000, () => seen.length === 2)
  // The test's random is 0.5 throughout, so the pauses are half of 1 s and of 2 s.
  for (const [attempt, pauseMs] of [500, 1000].entries()) {
    const row = await until('it is put off', 10_000, async () => {
      const found = await poison()
      return found?.last_error === `attempt ${attempt + 1}` && found
    })
    t.is(row.due_at.getTime() - clock.now.getTime(), pauseMs)
    pass(pauseMs)
  }
  await until('it is parked', 10_000, async () => (await poison())?.parked_at)
  t.like(await poison(), { last_error: 'attempt 3', attempts: 3, leased_until: null })
})

test('a permanent failure is parked at once', async t => {
  const { run, rows } = await dutyRunners(t)
  const { store } = run([
    loginReactor(async () => {
      throw new PermanentFailure('the receiver is gone')
    }),
  ])
  await logIns(store, ['s1'])
  await until('it is parked', 10_000, async () => (await rows())[0]?.parked_at)
  t.like(await rows(), [{ last_error: 'the receiver is gone', attempts: 1 }])
})

test('if its outcome cannot be recorded, the duty stays open and is retried', async t => {
  const { run, rows, pass } = await dutyRunners(t)
  let performed = 0
  const { store } = run([
    loginReactor(async ({ payload, attempt }) => {
      performed++
      const fails = writes(async () => {
        if (attempt === 1) throw new Error('no room')
      })
      return [ended(payload.sid), fails]
    }),
  ])
  await logIns(store, ['s1'])
  await until('it has failed', 10_000, async () => (await rows())[0]?.last_error === 'no room')
  t.is((await store.load('session-s1')).version, 0)
  pass(1000)
  await until('it is done', 10_000, async () => (await rows())[0]?.done_at)
  t.is(performed, 2)
  t.is((await store.load('session-s1')).version, 1)
})

test('duties of an unknown reactor stay, and others are still performed', async t => {
  const { run, rows, pool } = await dutyRunners(t)
  const gone = loginReactor(noticing([]), { name: 'gone' })
  const seen: string[] = []
  const known = loginReactor(noticing(seen))
  await logIns(storeWith(pool, [gone, known]), ['s1'])
  run([known])
  await until('the known one is done', 10_000, () => seen.length === 1)
  t.like(
    (await rows()).find(({ reactor }) => reactor === 'gone'),
    { done_at: null, parked_at: null, attempts: 0 },
  )
})

test('stop releases duties in progress at once, without counting a failure', async t => {
  const { run, rows } = await dutyRunners(t)
  const begun = Promise.withResolvers<void>()
  const { store, runner } = run([
    loginReactor(
      () => {
        begun.resolve()
        return new Promise(() => {})
      },
      { deadlineMs: 3_600_000 },
    ),
  ])
  await logIns(store, ['s1'])
  await begun.promise
  await untilSettled('the runner has stopped, without the attempt', 30_000, runner.stop())
  t.like(await rows(), [{ leased_until: null, attempts: 0, last_error: null, done_at: null }])
})

test('done duties are deleted in batches after seven days; open and parked ones stay', async t => {
  const { pool, clock, rows } = await dutyRunners(t)
  await pool.query(
    `insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at, done_at, parked_at)
     select gen_random_uuid(), 'r', 'c', 'q', '{}', now(), now(),
            case when n <= 1002 then $1::timestamptz - (case when n <= 1001 then 8 else 6 end) * interval '1 day' end,
            case when n = 1003 then $1::timestamptz - interval '99 days' end
       from generate_series(1, 1004) n`,
    [clock.now],
  )
  const deps = { pool, now: () => clock.now, logger: silent }
  t.true(await clearBatch(deps))
  t.false(await clearBatch(deps))
  t.is((await rows()).length, 3)
})

test('a kept error is short and holds no credentials', t => {
  const error = new Error(
    `x\0 https://bob:secret@host/path?token=secret#secret: refused ${'y'.repeat(9999)}`,
  )
  const kept = errorTextOf(error)
  t.is(kept.length, 500)
  t.true(kept.startsWith('x https://host/path refused'), kept)
})

test('an oversized payload fails the command that would add the duty', async t => {
  const { pool, rows } = await dutyRunners(t)
  const store = storeWith(pool, [loginReactor(noticing([]))])
  await t.throwsAsync(logIns(store, ['x'.repeat(70_000)]), { instanceOf: RangeError })
  t.deepEqual(await rows(), [])
})
