import test from 'ava'
import { batched } from '../../clients/console/src/charts/batch.ts'

function recorded(most = 10) {
  const asked: (readonly string[])[] = []
  const signals: AbortSignal[] = []
  const read = batched<string>(
    async (place, names, signal) => {
      asked.push(names)
      signals.push(signal)
      return names.map(name => `${name} of ${place}`)
    },
    { most, waitMs: 1 },
  )
  return { read, asked, signals }
}

test('concurrent reads of one place become one, and each gets its own results in order', async t => {
  const { read, asked } = recorded()
  const answers = await Promise.all([read('run', ['a']), read('run', ['c', 'a']), read('run', [])])
  t.deepEqual(answers, [['a of run'], ['c of run', 'a of run'], []])
  t.deepEqual(asked, [['a', 'c']])
})

test('reads of other places and later ones stay separate, and none exceeds the limit', async t => {
  const { read, asked } = recorded(2)
  await Promise.all([read('one', ['a']), read('two', ['a'])])
  await Promise.all([read('one', ['a', 'b']), read('one', ['c']), read('one', ['d', 'e', 'f'])])
  t.deepEqual(asked, [['a'], ['a'], ['a', 'b'], ['c'], ['d', 'e', 'f']])
})

test('a read is aborted when nobody waits for it any longer', async t => {
  const { read, signals } = recorded()
  const [first, second] = [new AbortController(), new AbortController()]
  first.abort()
  await Promise.all([read('run', ['a'], first.signal), read('run', ['b'], second.signal)])
  t.false(signals[0]?.aborted)
  await read('run', ['a'], first.signal)
  t.true(signals[1]?.aborted)
})

test('a failure reaches every waiting caller', async t => {
  const read = batched<string>(async () => Promise.reject(new Error('away')), {
    most: 9,
    waitMs: 1,
  })
  const all = await Promise.allSettled([read('run', ['a']), read('run', ['b'])])
  t.deepEqual(
    all.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})
