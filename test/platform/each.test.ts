import test from 'ava'
import { forEachApart } from '../../platform/each.ts'

test('an item that fails is reported and does not keep the others waiting', async t => {
  const [done, failed]: [number[], string[]] = [[], []]
  const work = async (item: number) => {
    if (item === 2) throw new Error('two')
    done.push(item)
  }
  const succeeded = await forEachApart([1, 2, 3], work, (error, item) =>
    failed.push(`${item}: ${error}`),
  )
  t.deepEqual([succeeded, done, failed], [2, [1, 3], ['2: Error: two']])
})

test('while the database is away the rest is left', async t => {
  const tried: number[] = []
  const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  const work = async (item: number) => {
    tried.push(item)
    throw away
  }
  await t.throwsAsync(
    forEachApart([1, 2], work, () => {}),
    { is: away },
  )
  t.deepEqual(tried, [1])
})
