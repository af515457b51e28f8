import test from 'ava'
import { UnderWay } from '../../gateway/under-way.ts'

test('requests under way are reported with their average since the last report, and their end once', t => {
  let now = 0
  const under = new UnderWay(() => now)
  under.add('a', 1)
  now = 500
  under.add('a', 1)
  under.add('b', 1)
  now = 600
  under.add('b', -1)
  now = 1000
  t.is(under.of('a'), 2)
  t.deepEqual(under.take(), [
    { subject: 'a', in_flight: 2, concurrency: 1.5 },
    { subject: 'b', in_flight: 0, concurrency: 0.1 },
  ])
  now = 1500
  under.add('a', -2)
  now = 2000
  t.deepEqual(under.take(), [{ subject: 'a', in_flight: 0, concurrency: 1 }])
  t.deepEqual(under.take(), [])
  t.is(under.of('a'), 0)
})
