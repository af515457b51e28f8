import test from 'ava'
import type { WaitingJob } from '../../executor/job-commands.ts'
import { planStarts } from '../../executor/queue.ts'

const job = (run_id: string, gpus: number, nodes = 1): WaitingJob => ({
  ...{ run_id, nodes, gpus },
  reason: null,
})

test('jobs start in queue order on the lowest free GPUs', t => {
  t.deepEqual(planStarts([job('a', 1), job('b', 2)], 4, [0]), {
    starts: [
      { run_id: 'a', gpu_indexes: [1] },
      { run_id: 'b', gpu_indexes: [2, 3] },
    ],
    waits: [],
  })
})

test('no job overtakes one that waits for GPUs', t => {
  t.deepEqual(planStarts([job('big', 4), job('small', 1)], 4, [2]), {
    starts: [],
    waits: [
      { run_id: 'big', reason: 'waiting_capacity' },
      { run_id: 'small', reason: 'behind_priority' },
    ],
  })
})

test('a job without GPUs overtakes jobs that wait for GPUs, even where none exist', t => {
  const bare = { run_id: 'bare', gpu_indexes: [] }
  t.deepEqual(planStarts([job('big', 4), job('bare', 0), job('small', 1)], 4, [2]), {
    starts: [bare],
    waits: [
      { run_id: 'big', reason: 'waiting_capacity' },
      { run_id: 'small', reason: 'behind_priority' },
    ],
  })
  t.deepEqual(planStarts([job('bare', 0)], 0, []), { starts: [bare], waits: [] })
})

test('GPUs held before the node shrank reduce nothing', t => {
  t.deepEqual(planStarts([job('a', 2)], 2, [7]).starts, [{ run_id: 'a', gpu_indexes: [0, 1] }])
})

test('a job that requests more GPUs than exist blocks nobody', t => {
  t.deepEqual(planStarts([job('huge', 8), job('small', 1)], 4, []), {
    starts: [{ run_id: 'small', gpu_indexes: [0] }],
    waits: [{ run_id: 'huge', reason: 'waiting_capacity' }],
  })
})

test('a job of several nodes waits for all of them, although some could start', t => {
  const reasons = (...jobs: WaitingJob[]) => planStarts(jobs, 4, [0]).waits.map(wait => wait.reason)
  t.deepEqual(reasons(job('two nodes of two', 4, 2)), ['waiting_gang'])
  t.deepEqual(reasons(job('one node of four', 4)), ['waiting_capacity'])
  t.deepEqual(planStarts([job('two nodes of two', 4, 2)], 4, [0, 1, 2]).waits, [
    { run_id: 'two nodes of two', reason: 'waiting_capacity' },
  ])
  t.deepEqual(reasons(job('first', 4), job('two nodes', 2, 2)), [
    'waiting_capacity',
    'behind_priority',
  ])
})
