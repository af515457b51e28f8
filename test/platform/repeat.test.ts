import test from 'ava'
import { repeat } from '../../platform/repeat.ts'
import { until } from '../servers/until.ts'

const longMs = 60_000
const failed = () => {}

test('passes run one at a time, and stop resolves when the current one has ended', async t => {
  const done = Promise.withResolvers<void>()
  let began = 0
  let ended = 0
  const repeated = repeat(
    async () => {
      began++
      t.is(began, ended + 1)
      if (began === 3) await done.promise
      ended++
      return 0
    },
    { failed },
  )
  await until('the third is under way', 10_000, () => began === 3)
  const stopped = repeated.stop().then(() => t.is(ended, 3))
  done.resolve()
  await stopped
  t.is(began, 3)
})

test('wake ends the current pause or skips the next one', async t => {
  let times = 0
  const repeated = repeat(
    async () => {
      times++
      if (times === 2) repeated.wake()
      return longMs
    },
    { failed },
  )
  await until('the first is over', 10_000, () => times === 1)
  repeated.wake()
  await until('the second and the third are over', 10_000, () => times === 3)
  await repeated.stop()
  t.is(times, 3)
})

test('there may be a pause before the first pass', async t => {
  let times = 0
  const work = async () => {
    times++
    return longMs
  }
  const repeated = repeat(work, { failed, firstAfterMs: longMs })
  await new Promise(setImmediate)
  t.is(times, 0)
  repeated.wake()
  await until('it has begun', 10_000, () => times === 1)
  await repeated.stop()
})

test('a failure is reported and the work retried after growing pauses', async t => {
  const reasons: unknown[] = []
  const at: number[] = []
  const repeated = repeat(
    async () => {
      at.push(performance.now())
      if (at.length <= 4) throw new Error(`failure ${at.length}`)
      return longMs
    },
    { failed: reason => reasons.push(reason), retryMs: { first: 20, most: 60 } },
  )
  await until('it has worked', 10_000, () => at.length === 5)
  await repeated.stop()
  t.deepEqual(
    reasons.map(reason => (reason as Error).message),
    ['failure 1', 'failure 2', 'failure 3', 'failure 4'],
  )
  const pauses = at.slice(1).map((time, index) => time - Number(at[index]))
  for (const [index, least] of [20, 40, 60, 60].entries())
    t.true(Number(pauses[index]) > least - 5, `${pauses}`)
})

test('wake does not shorten the pause after a failure; stop does', async t => {
  let failures = 0
  const repeated = repeat(
    async () => {
      throw new Error('again')
    },
    { failed: () => failures++, retryMs: { first: longMs, most: longMs } },
  )
  await until('it has failed', 10_000, () => failures === 1)
  repeated.wake()
  await new Promise(setImmediate)
  t.is(failures, 1)
  await repeated.stop()
})
