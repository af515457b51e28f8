import test from 'ava'
import { createPollPace } from '../../platform/poll-pace.ts'

const pausesOf = (pace: { nextMs(): number }, count: number) =>
  Array.from({ length: count }, () => pace.nextMs())

test('pauses stay short for twenty polls that find nothing, then double up to the longest', t => {
  const pace = createPollPace(50, 200)
  t.deepEqual(pausesOf(pace, 20), Array(20).fill(50))
  t.deepEqual(pausesOf(pace, 5), [50, 100, 200, 200, 200])
})

test('a poll that finds something makes the pauses short again', t => {
  const pace = createPollPace(50, 200)
  pausesOf(pace, 2_000)
  t.is(pace.nextMs(), 200)
  pace.found()
  t.is(pace.nextMs(), 50)
})
