import test from 'ava'
import { createTailCache } from '../../../platform/log/tail-cache.ts'

const records = (first: number, count: number, size = 10) =>
  Array.from({ length: count }, (_, i) => ({
    offset: BigInt(first + i),
    key: 'k',
    value: Buffer.alloc(size),
  }))
const offsets = (taken: { offset: bigint }[]) => taken.map(({ offset }) => Number(offset))

test('records that continue the kept ones are kept, and can be read from any offset', t => {
  const cache = createTailCache(1000)
  cache.add(1, 5n, records(5, 3))
  cache.add(1, 8n, records(8, 2))
  t.deepEqual(offsets(cache.take(1, 6n, 1000)), [6, 7, 8, 9])
  t.deepEqual(offsets(cache.take(1, 6n, 20)), [6, 7])
  t.deepEqual(offsets(cache.take(1, 6n, 1)), [6])
  t.deepEqual(cache.take(1, 4n, 1000), [])
  t.deepEqual(cache.take(1, 10n, 1000), [])
  t.deepEqual(cache.take(2, 6n, 1000), [])
})

test('after a gap only the records past it are kept', t => {
  const cache = createTailCache(1000)
  cache.add(1, 0n, records(0, 3))
  cache.add(1, 9n, records(9, 1))
  t.deepEqual(cache.take(1, 0n, 1000), [])
  t.deepEqual(offsets(cache.take(1, 9n, 1000)), [9])
  t.is(cache.bytes, 10)
})

test('it never exceeds its limit, and drops the oldest records of the longest tail', t => {
  const cache = createTailCache(100)
  cache.add(1, 0n, records(0, 2))
  for (let first = 0; first < 200; first += 5) {
    cache.add(2, BigInt(first), records(first, 5))
    t.true(cache.bytes <= 100)
  }
  t.deepEqual(offsets(cache.take(1, 0n, 1000)), [0, 1])
  t.is(offsets(cache.take(2, 199n, 1000)).at(-1), 199)
})

test('a record larger than the limit is not kept', t => {
  const cache = createTailCache(100)
  cache.add(1, 0n, records(0, 1, 500))
  t.is(cache.bytes, 0)
  t.deepEqual(cache.take(1, 0n, 1000), [])
  cache.add(1, 1n, records(1, 1))
  t.deepEqual(offsets(cache.take(1, 1n, 1000)), [1])
})

test('records that all readers have passed are dropped', t => {
  const cache = createTailCache(1000)
  cache.add(1, 0n, records(0, 10))
  cache.dropBefore(1, 7n)
  t.is(cache.bytes, 30)
  t.deepEqual(offsets(cache.take(1, 7n, 1000)), [7, 8, 9])
  cache.dropBefore(1, 100n)
  t.is(cache.bytes, 0)
})
