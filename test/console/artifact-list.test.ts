import test from 'ava'
import {
  forEach,
  isModel,
  metricsOf,
  nameOfSorting,
  sorted,
  sortingOf,
} from '../../clients/console/src/pages/run/artifacts/list.ts'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'

const artifact = (given: Partial<Artifact>): Artifact => ({
  ...{ artifact_id: 'art_1', run_id: 'run_1', kind: 'checkpoint', path: 'a', format: 'torch' },
  ...{ step: null, size_bytes: null, sha256: null, metrics: {}, attempt: null },
  ...{ status: 'registered', file_count: null, is_best: false, is_latest: false, init_from: null },
  ...{ protected_by: [], expires_at: null, created_at: '2026-11-27T00:00:00Z' },
  ...{ registered_by: 'run_1', deleted_at: null, deleted_by: null },
  ...given,
})
const list = [
  artifact({ path: 'a', step: 1, size_bytes: 30, metrics: { loss: 0.5 } }),
  artifact({ path: 'b', step: null, size_bytes: 10, metrics: { loss: 0.1, acc: 1 } }),
  artifact({ path: 'c', step: 3, size_bytes: 20 }),
]

test('artifacts are sorted by a column, those without a value last in either direction', t => {
  const order = (text: string, metric: string | null = 'loss') =>
    sorted(list, sortingOf(text), metric)
      .map(({ path }) => path)
      .join('')
  t.is(order('-step'), 'cab')
  t.is(order('step'), 'acb')
  t.is(order('size'), 'bca')
  t.is(order('metric'), 'bac')
  t.is(order('-metric'), 'abc')
  t.is(order('metric', null), 'abc', 'equal ones keep their order')
  t.is(order('-path'), 'cba')
})

test('an address names the sorting; anything else is the newest step first', t => {
  for (const name of ['size', '-size', 'metric', '-created'])
    t.is(nameOfSorting(sortingOf(name)), name)
  for (const name of [undefined, '', '-', 'sha256', '--size'])
    t.is(nameOfSorting(sortingOf(name)), '-step')
})

test('the metrics of artifacts are listed by how many have them', t => {
  t.deepEqual(metricsOf(list), ['loss', 'acc'])
  t.deepEqual(metricsOf([]), [])
})

test('a report, a lost and a deleted artifact are no model', t => {
  t.true(isModel({ kind: 'checkpoint', status: 'verified' }))
  t.false(isModel({ kind: 'eval_report', status: 'verified' }))
  for (const status of ['missing', 'deleting', 'deleted'] as const)
    t.false(isModel({ kind: 'checkpoint', status }))
})

test('work on many is done a few at a time, and one failure stops none of the others', async t => {
  let [now, most] = [0, 0]
  const results = await forEach([1, 2, 3, 4, 5, 6, 7], async n => {
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
    if (n === 2) throw new Error('two')
    return n
  })
  t.is(most, 4)
  t.deepEqual(
    results.map(one => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    [1, 'two', 3, 4, 5, 6, 7],
  )
})
