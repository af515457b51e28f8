import test from 'ava'
import { countGpus } from '../../../executor/slurm/cluster-gpus.ts'
import {
  chooseVersion,
  isOver,
  toJob,
  toNode,
  toSubmission,
} from '../../../executor/slurm/dialect.ts'
import { gpuIndexesOf, gpusByType } from '../../../executor/slurm/gres.ts'

const request = {
  name: 'forge-run_1-1',
  comment: 'turn=1 token=4',
  script: '#!/bin/sh\ntrue\n',
  directory: 'shared/run_1',
  output: 'shared/run_1/slurm.log',
  nodes: 2,
  gpus_per_node: 4,
  gpu_type: 'h100',
  partition: 'main',
  account: null,
  environment: { PATH: 'bin' },
}

const paths = (...versions: string[]) => ({
  paths: Object.fromEntries(versions.map(version => [`/slurm/${version}/job/submit`, {}])),
})

test('the newest version that both sides speak is chosen', t => {
  t.is(chooseVersion(paths('v0.0.37', 'v0.0.38')), 'v0.0.38')
  t.is(chooseVersion(paths('v0.0.38', 'v0.0.39', 'v0.0.40')), 'v0.0.40')
  t.is(chooseVersion(paths('v0.0.36')), null)
  t.is(chooseVersion('nonsense'), null)
})

test("a gang is requested in each version's form", t => {
  t.like(toSubmission('v0.0.38', request), {
    script: request.script,
    job: {
      nodes: [2, 2],
      tasks: 2,
      tasks_per_node: 1,
      gpus_per_node: 'h100:4',
      no_requeue: true,
      environment: { PATH: 'bin' },
    },
  })
  t.like(toSubmission('v0.0.40', request), {
    job: {
      script: request.script,
      nodes: '2-2',
      tasks_per_node: 1,
      tres_per_node: 'gres/gpu:h100:4',
      requeue: false,
      environment: ['PATH=bin'],
    },
  })
})

const old = {
  job_id: 7,
  name: 'forge-run_1-1',
  comment: 'turn=1 token=4',
  job_state: 'FAILED',
  state_reason: 'NonZeroExitCode',
  nodes: 'n[1-2]',
  gres_detail: ['gpu:2(IDX:0-1)', 'gpu:2(IDX:2-3)'],
  start_time: 1_700_000_000,
  end_time: 1_700_000_060,
  exit_code: 1792,
}

const number = (value: number) => ({ set: true, infinite: false, number: value })

test('a job reads the same in both forms', t => {
  const newer = {
    ...old,
    job_state: ['FAILED'],
    start_time: number(1_700_000_000),
    end_time: number(1_700_000_060),
    exit_code: {
      status: ['ERROR'],
      return_code: number(7),
      signal: { id: { set: false, infinite: false, number: 0 }, name: '' },
    },
  }
  t.deepEqual(toJob(newer), toJob(old))
  t.like(toJob(old), { id: 7, exit_code: 7, signal: null, states: ['FAILED'] })
  t.is(toJob(old)?.started_at?.toISOString(), '2023-11-14T22:13:20.000Z')
})

test('a signal differs from an exit code, and a missing code from 0', t => {
  t.like(toJob({ ...old, exit_code: 9 }), { exit_code: null, signal: 9 })
  t.like(toJob({ ...old, exit_code: 0xffff_fffe }), { exit_code: null, signal: null })
  const signaled = { return_code: number(0), signal: { id: number(15), name: 'Terminated' } }
  t.like(toJob({ ...old, exit_code: signaled }), { exit_code: null, signal: 15 })
  t.is(toJob({ name: 'without an id' }), null)
})

test('a job is over when nothing of it runs any more', t => {
  for (const state of ['COMPLETED', 'CANCELLED', 'NODE_FAIL', 'TIMEOUT', 'OUT_OF_MEMORY'])
    t.true(isOver({ states: [state] }), state)
  for (const states of [['PENDING'], ['RUNNING'], ['COMPLETING'], ['FAILED', 'COMPLETING'], []])
    t.false(isOver({ states }), states.join())
})

test('nodes that are down or drained count for their size, but not as free', t => {
  const nodes = [
    { name: 'a', state: 'idle', state_flags: [], partitions: ['main'], gres: 'gpu:h100:4(S:0-1)' },
    { name: 'b', state: ['IDLE', 'DRAIN'], partitions: ['main'], gres: 'gpu:h100:4' },
    {
      name: 'c',
      state: 'down',
      state_flags: ['NOT_RESPONDING'],
      partitions: 'main',
      gres: 'gpu:h100:2',
    },
    { name: 'd', state: 'idle', state_flags: [], partitions: ['other'], gres: 'gpu:h100:8' },
    {
      name: 'e',
      state: 'mixed',
      state_flags: [],
      partitions: ['main'],
      gres: 'gpu:a100:2,shard:8',
    },
  ].map(toNode)
  const known = nodes.filter(node => node !== null)
  t.deepEqual(countGpus(known, 'main'), { type: 'h100', gpus: 4, gpus_per_node: 4, nodes: 2 })
  t.deepEqual(countGpus([], null), { type: '', gpus: 0, gpus_per_node: 0, nodes: 0 })
})

test('generic resources and indexes are read in each of their forms', t => {
  t.deepEqual([...gpusByType('gpu:4')], [['', 4]])
  t.deepEqual([...gpusByType('gpu:a100:2(S:0),gpu:a100:2(S:1),mps:100')], [['a100', 4]])
  t.deepEqual([...gpusByType('(null)')], [])
  t.deepEqual(gpuIndexesOf('0-2,5'), [0, 1, 2, 5])
  t.deepEqual(gpuIndexesOf(''), [])
})
