import test from 'ava'
import { createKeyLimit, manyKeys } from '../../command-api/metrics/key-limit.ts'
import { Invalid } from '../../schemas/validate.ts'
import { compact, emptyStore, flush, report, startMs } from './given.ts'

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `key_${from + i}`)

const nothing = { count: async () => new Map<string, number>(), missing: async () => [] }

/** The content of the read models, and how often they were queried. */
function storing(runId: string, stored: string[]) {
  const asked = { count: 0, missing: 0 }
  return {
    asked,
    async count() {
      asked.count++
      return new Map([[runId, stored.length]])
    },
    async missing(_: string, keys: readonly string[]) {
      asked.missing++
      return keys.filter(key => !stored.includes(key))
    },
  }
}

test('a report with one key too many is refused as a whole, known keys are accepted', async t => {
  const limit = createKeyLimit(nothing, { maxKeys: 100 })
  t.is(await limit.admit('run_a', names(0, 60)), 60)
  t.is(await limit.admit('run_a', names(40, 100)), 100)
  const error = await t.throwsAsync(async () => limit.admit('run_a', names(99, 101)), {
    instanceOf: Invalid,
  })
  t.like(error.errors[0], { type: 'too_long', loc: ['body', 'points'], ctx: { max_length: 100 } })
  t.is(limit.admit('run_a', names(0, 100)), 100)
  t.is(await limit.admit('run_b', names(99, 101)), 2)
})

test('concurrent reports do not exceed the limit together', async t => {
  const limit = createKeyLimit(nothing, { maxKeys: 100 })
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, async (_, i) => limit.admit('run_a', names(i * 30, i * 30 + 30))),
  )
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 3)
})

test('nothing is queried while no key is new', async t => {
  const stored = storing('run_a', [])
  const limit = createKeyLimit(stored, { maxKeys: 100 })
  await limit.admit('run_a', names(0, 16))
  for (let i = 0; i < 100; i++) t.is(limit.admit('run_a', names(0, 16)), 16)
  t.deepEqual(stored.asked, { count: 1, missing: 0 })
})

test('keys admitted by others count, and are accepted', async t => {
  const limit = createKeyLimit(storing('run_a', names(0, 99)), { maxKeys: 100 })
  t.is(await limit.admit('run_a', [...names(0, 10), 'new']), 99)
  await t.throwsAsync(async () => limit.admit('run_a', ['newer', 'newest']), {
    instanceOf: Invalid,
  })
  t.is(await limit.admit('run_a', names(50, 99)), 99)
})

test("while the read models are unavailable, this process's own count decides", async t => {
  const away = async () => {
    throw new Error('away')
  }
  const limit = createKeyLimit({ count: away, missing: away }, { maxKeys: 100 })
  t.is(await limit.admit('run_a', names(0, 100)), 100)
  await t.throwsAsync(async () => limit.admit('run_a', ['more']), { instanceOf: Invalid })
})

test('the memory of many runs is bounded', async t => {
  const stored = storing('nobody', [])
  const limit = createKeyLimit(stored)
  const long = (run: number) => names(0, 50_000).map(name => name.padEnd(200, String(run)))
  for (let run = 0; run < 4; run++) await limit.admit(`run_${run}`, long(run))
  t.is(typeof limit.admit('run_3', long(3)), 'number', 'known')
  t.is(typeof limit.admit('run_0', long(0)), 'object', 'forgotten')
})

test('a run with many keys is noticed once', async t => {
  const noticed: number[] = []
  const limit = createKeyLimit(nothing, { noticed: (_, keys) => noticed.push(keys) })
  await limit.admit('run_a', names(0, manyKeys))
  t.deepEqual(noticed, [])
  await limit.admit('run_a', ['one more'])
  await limit.admit('run_a', ['and another'])
  t.deepEqual(noticed, [manyKeys + 1])
})

test('the projection counts the keys of a run and lists the first 50 by name, also once it is settled', async t => {
  const store = await emptyStore(t)
  const points = (keys: string[]) => keys.map(key => ({ key, step: 1, value: 1 }))
  const listed = async () => {
    const { rows } = await store.pool.query(
      `select k.keys, array(select n.key from metric_name n where n.key_no = any(k.listed) order by n.key) as listed
         from metric_keys k join metric_run r using (run_no) where run_id = 'run_a'`,
    )
    return rows[0]
  }
  await flush(store, [report('run_a', points(names(10, 40))), report('run_b', points(['b']))])
  t.deepEqual(await listed(), { keys: 30, listed: names(10, 40) })
  await flush(store, [report('run_a', points(names(30, 80)))])
  t.deepEqual(await listed(), { keys: 70, listed: names(10, 60) })
  await compact(store, 'run_a', startMs + 61_000)
  await flush(store, [report('run_a', points(['a', 'z']), startMs + 90_000)])
  t.deepEqual(await listed(), { keys: 72, listed: ['a', ...names(10, 59)] })
})
