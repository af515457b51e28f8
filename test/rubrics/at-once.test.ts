import test from 'ava'
import { atOnce } from '../../command-api/rubrics/judging/at-once.ts'

test('at most so many run at once, each item once', async t => {
  let underWay = 0
  let most = 0
  const done: number[] = []
  await atOnce([1, 2, 3, 4, 5], 2, async item => {
    most = Math.max(most, ++underWay)
    await null
    underWay--
    done.push(item)
  })
  t.is(most, 2)
  t.deepEqual(done.sort(), [1, 2, 3, 4, 5])
})

test('after an error nothing begins, and it is thrown once the work under way has ended', async t => {
  const began: number[] = []
  const done: number[] = []
  const work = async (item: number) => {
    began.push(item)
    await null
    if (item === 1) throw new Error('the first')
    await null
    done.push(item)
  }
  await t.throwsAsync(atOnce([1, 2, 3, 4, 5], 2, work), { message: 'the first' })
  t.deepEqual([began, done], [[1, 2], [2]])
})
