import test from 'ava'
import { people, plannedRuns } from '../../../../clients/cli/demo/data/plan.ts'

test('the demonstration is the same each time and covers every kind of run', t => {
  const runs = plannedRuns()
  t.deepEqual(runs, plannedRuns())
  t.is(runs.length, 60)
  t.deepEqual([...new Set(runs.map(({ project }) => project))].sort(), [
    'language',
    'rlhf',
    'speech',
    'vision',
  ])
  t.deepEqual(new Set(runs.map(({ owner }) => owner)), new Set(people))
  t.true(runs.some(({ end }) => end === null))
  t.true(runs.filter(({ end }) => end?.event === 'failed').length >= 8)
  t.true(runs.some(({ points }) => points.some(({ value }) => value === 'NaN')))
  t.true(runs.some(({ gpus }) => gpus === 8))
  t.true(runs.some(({ rounds }) => rounds.length === 5))
  for (const { points } of runs)
    for (const { value } of points) t.true(value === 'NaN' || Number.isFinite(value))
})
