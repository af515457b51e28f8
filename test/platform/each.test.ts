import test from 'ava'
import { forEachApart } from '../../platform/each.ts'
import { LogUnavailable, RecordTooLarge } from '../../platform/log/event-log.ts'

test('an item that fails is reported and does not delay the others', async t => {
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

for (const [what, away] of [
  ['the database', Object.assign(new Error('away'), { code: 'ECONNREFUSED' })],
  ['the log', new LogUnavailable('away')],
] as const)
  test(`while ${what} is down the rest is skipped`, async t => {
    const tried: number[] = []
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

test('an item that is too large for the log does not delay the others', async t => {
  const failed: number[] = []
  const work = async () => {
    throw new RecordTooLarge('too large')
  }
  const succeeded = await forEachApart([1, 2], work, (_, item) => failed.push(item))
  t.deepEqual([succeeded, failed], [0, [1, 2]])
})
