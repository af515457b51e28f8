import test from 'ava'
import { inGroups } from '../../platform/in-groups.ts'

/** Work whose groups end when the test decides. */
function manualWork() {
  const groups: {
    items: readonly number[]
    end: (outcomes?: PromiseSettledResult<string>[]) => void
  }[] = []
  const work = (items: readonly number[]) =>
    new Promise<PromiseSettledResult<string>[]>(resolve => {
      const done = items.map(item => ({ status: 'fulfilled' as const, value: `done ${item}` }))
      groups.push({ items, end: (outcomes = done) => resolve(outcomes) })
    })
  return { groups, work }
}

/** Runs everything that waits only for other promises. */
const turn = () => new Promise(resolve => setImmediate(resolve))

test('items that arrive while enough groups are in progress share the next one', async t => {
  const { groups, work } = manualWork()
  const add = inGroups({ most: 3, atOnce: 2 }, work)
  const first = add(1)
  await turn()
  const others = [2, 3].map(add)
  await turn()
  const late = [4, 5, 6, 7].map(add)
  await turn()
  t.deepEqual(
    groups.map(({ items }) => items),
    [[1], [2, 3]],
  )
  groups[0]?.end()
  t.is(await first, 'done 1')
  await turn()
  t.deepEqual(groups[2]?.items, [4, 5, 6])
  groups[1]?.end()
  t.deepEqual(await Promise.all(others), ['done 2', 'done 3'])
  await turn()
  t.deepEqual(groups[3]?.items, [7])
  groups[2]?.end()
  groups[3]?.end()
  t.deepEqual(await Promise.all(late), ['done 4', 'done 5', 'done 6', 'done 7'])
})

test('each item gets its own outcome', async t => {
  const add = inGroups({ most: 10, atOnce: 1 }, async (items: readonly number[]) =>
    items.map(item =>
      item === 2
        ? { status: 'rejected' as const, reason: new Error('no two') }
        : { status: 'fulfilled' as const, value: item },
    ),
  )
  const outcomes = await Promise.allSettled([1, 2, 3].map(add))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a group that fails or forgets an item fails its items, and later ones are processed', async t => {
  let calls = 0
  const add = inGroups({ most: 10, atOnce: 1 }, async (items: readonly number[]) => {
    calls++
    if (calls === 1) throw new Error('broken')
    if (calls === 2) return []
    return items.map(value => ({ status: 'fulfilled' as const, value }))
  })
  await t.throwsAsync(add(1), { message: 'broken' })
  await t.throwsAsync(add(2), { message: /no outcome/ })
  t.is(await add(3), 3)
})
