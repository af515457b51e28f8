import test from 'ava'
import { spaced } from '../../platform/spaced.ts'
import { until } from '../servers/until.ts'

test('the first of many concurrent calls is passed on at once, and the others as one', async t => {
  let calls = 0
  const call = spaced(30, () => calls++)
  for (let count = 0; count < 100; count++) call()
  t.is(calls, 1)
  await until('the missed calls are passed on', 30_000, () => calls === 2)
  call()
  await until('a later one is not lost', 30_000, () => calls === 3)
})
