import test from 'ava'
import { factsOf } from '../../clients/console/src/pages/run/environment/facts.ts'
import { machineOf } from '../../clients/console/src/pages/run/environment/machines.ts'
import {
  isWithin,
  rangeIn,
  reportedTextOf,
  textOfRange,
} from '../../clients/console/src/pages/run/samples/reported.ts'

test('a structured value of a sample is shown as JSON, a text unchanged', t => {
  t.is(reportedTextOf('42'), '42')
  t.is(reportedTextOf({ answer: [1, null] }), '{\n  "answer": [\n    1,\n    null\n  ]\n}')
  t.is(reportedTextOf(undefined), 'undefined')
})

test('a range of rewards survives the address', t => {
  for (const range of [
    { from: -1.5, to: 1e-7 },
    { from: 0, to: 0 },
    { from: -2e21, to: -1 },
  ])
    t.deepEqual(rangeIn(textOfRange(range)), range)
  for (const text of [undefined, '', '1', '1..', '2..1', 'a..b', 'NaN..1'])
    t.is(rangeIn(text), null)
  t.is(textOfRange(null), undefined)
})

test('a reward is within its range, both ends included', t => {
  t.true(isWithin(1, { from: 0, to: 1 }))
  t.false(isWithin(1.1, { from: 0, to: 1 }))
  t.false(isWithin('NaN', { from: 0, to: 1 }))
  t.true(isWithin(null, null))
})

test('facts have full names; endless nesting is not followed', t => {
  t.deepEqual(
    [...factsOf({ python: '3.13', gpus: [{ name: 'H200' }], git: null, env: {} })],
    [
      ['python', '3.13'],
      ['gpus.0.name', 'H200'],
    ],
  )
  let deep: object = {}
  for (let n = 0; n < 100_000; n++) deep = { a: deep }
  t.deepEqual([...factsOf(deep)], [['a.a.a.a.a.a.a.a', '{…}']])
})

test('a machine is described in a row', t => {
  const nic = { name: 'ib0', speed_gbps: 400, kind: 'infiniband' }
  const facts = {
    ...{ node: 'n1', node_rank: 0, cuda_driver: '570', nvlink: 'full', nics: [nic, nic] },
    gpus: [{ name: 'H200' }, { name: 'H200' }, { name: 'A10' }],
    ...{ cpu_model: 'EPYC', cpu_count: 192, mem_total_bytes: 2 ** 40 },
  }
  t.deepEqual(machineOf({ node: 'n1', reported_at: '', facts }), {
    ...{ node: 'n1', rank: '0', gpus: '2 × H200, 1 × A10', cpu: '192 × EPYC', memory: '1 TiB' },
    ...{ driver: '570', network: '2 × 400 Gbit/s infiniband · NVLink full' },
  })
  t.deepEqual(machineOf({ node: 'n2', reported_at: '', facts: { gpu_count: 8 } }), {
    ...{ node: 'n2', rank: null, gpus: '8', cpu: null, memory: null, driver: null, network: null },
  })
})
