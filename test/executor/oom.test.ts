import test from 'ava'
import { parseGpuList } from '../../executor/node/gpus.ts'
import { wasOomKilled } from '../../executor/node/oom-watch.ts'

const sigkill = { exit_code: null, signal: 'SIGKILL', by_us: false, counted: null, on_machine: 0 }

test('if the control group counts out-of-memory kills, its count decides', t => {
  t.true(wasOomKilled({ ...sigkill, counted: 1 }))
  t.true(
    wasOomKilled({ ...sigkill, counted: 1, signal: null, exit_code: 1 }),
    'a child of it, and it ended itself',
  )
  t.false(wasOomKilled({ ...sigkill, counted: 1, signal: null, exit_code: 0 }), 'it succeeded')
  t.false(wasOomKilled({ ...sigkill, counted: 0, on_machine: 3 }))
})

test('otherwise a foreign SIGKILL together with an out-of-memory kill on the machine decides', t => {
  t.true(wasOomKilled({ ...sigkill, on_machine: 1 }))
  t.false(wasOomKilled(sigkill))
  t.false(wasOomKilled({ ...sigkill, on_machine: 1, by_us: true }))
  t.false(wasOomKilled({ ...sigkill, on_machine: 1, signal: 'SIGSEGV' }))
})

test('the list of nvidia-smi gives count and series', t => {
  const list = [
    'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-555555555555)',
    'GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-666666666666)',
  ]
  t.deepEqual(parseGpuList(list.join('\n')), { gpus: 2, series: 'H100', fake: false })
  t.is(parseGpuList('GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)')?.series, 'A100')
  t.is(parseGpuList('GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-1)')?.series, '4090')
  t.is(parseGpuList('No devices found.'), null)
})
