import test from 'ava'
import { remembered } from '../../../platform/remembered.ts'

/** A source and a clock that the test controls. */
function given(limits = { ttlMs: 1000, staleMs: 60_000 }) {
  const queries: { keys: string[]; answer: () => void; fail: () => void }[] = []
  let now = 0
  const find = remembered<string>(
    limits,
    keys =>
      new Promise((resolve, reject) => {
        queries.push({
          keys,
          answer: () => resolve(new Map(keys.map(key => [key, `${key}@${now}`]))),
          fail: () => reject(new Error('away')),
        })
      }),
    () => now,
  )
  /** Requests a key, and completes the resulting query. */
  const answerTo = async (key: string) => {
    const found = find(key)
    await tick()
    queries.at(-1)?.answer()
    return found
  }
  return { find, queries, answerTo, pass: (ms: number) => (now += ms) }
}

/** Lets pending promise callbacks run. */
const tick = () => new Promise(resolve => setImmediate(resolve))

test('keys requested together, or while a query is running, share one query', async t => {
  const { find, queries } = given()
  const first = [find('a'), find('b'), find('a')]
  await tick()
  const later = [find('c'), find('d')]
  t.deepEqual(
    queries.map(({ keys }) => keys),
    [['a', 'b']],
  )
  queries[0]?.answer()
  await Promise.all(first)
  await tick()
  t.deepEqual(queries[1]?.keys, ['c', 'd'])
  queries[1]?.answer()
  t.deepEqual(await Promise.all(later), ['c@0', 'd@0'])
})

test('after half its lifetime a value is refreshed in the background, and returned meanwhile', async t => {
  const { find, queries, answerTo, pass } = given()
  await answerTo('a')
  pass(499)
  t.is(await find('a'), 'a@0')
  t.is(queries.length, 1)
  pass(101)
  t.is(await find('a'), 'a@0')
  await tick()
  t.is(queries.length, 2)
  queries[1]?.answer()
  await tick()
  t.is(await find('a'), 'a@600')
})

test('values found at different times are refreshed together', async t => {
  const { find, queries, answerTo, pass } = given()
  for (const key of ['a', 'b', 'c']) {
    await answerTo(key)
    pass(100)
  }
  pass(200)
  await Promise.all(['a', 'b', 'c'].map(find))
  await tick()
  t.deepEqual(queries[3]?.keys, ['a', 'b', 'c'])
})

test('a caller waits for the refresh of an expired value', async t => {
  const { answerTo, pass } = given()
  await answerTo('a')
  pass(1000)
  t.is(await answerTo('a'), 'a@1000')
})

test('a missing key is null, and cached as such', async t => {
  let asked = 0
  const find = remembered({ ttlMs: 1000, staleMs: 0 }, async () => {
    asked++
    return new Map<string, string>()
  })
  t.is(await find('a'), null)
  t.is(await find('a'), null)
  t.is(asked, 1)
})

test('when the source fails, a stale value is returned, and at once the next time', async t => {
  const { find, queries, answerTo, pass } = given()
  await answerTo('a')
  pass(30_000)
  const stale = find('a')
  await tick()
  queries[1]?.fail()
  t.is(await stale, 'a@0')
  t.is(await find('a'), 'a@0', 'it waited for the query that is under way')
  await tick()
  pass(30_000)
  queries[2]?.fail()
  await tick()
  const tooLate = find('a')
  await tick()
  queries[3]?.fail()
  await t.throwsAsync(tooLate, { message: 'away' })
})

test('without an earlier value the failure is thrown', async t => {
  const { find, queries } = given()
  const first = find('a')
  await tick()
  queries[0]?.fail()
  await t.throwsAsync(first, { message: 'away' })
})

test('a forgotten key is looked up again, even if an earlier query returns later', async t => {
  const { find, queries, pass } = given()
  const first = find('a')
  await tick()
  find.forget(() => true)
  pass(1)
  const second = find('a')
  queries[0]?.answer()
  t.is(await first, 'a@1')
  await tick()
  t.is(queries.length, 2)
  pass(1)
  queries[1]?.answer()
  t.is(await second, 'a@2')
  t.is(await find('a'), 'a@2')
  find.forget(value => value === 'b@2')
  t.is(await find('a'), 'a@2')
  t.is(queries.length, 2)
})
