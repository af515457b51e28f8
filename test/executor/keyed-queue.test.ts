import test from 'ava'
import { createKeyedQueue } from '../../executor/keyed-queue.ts'
import { until } from '../servers/until.ts'

/** Work that ends on request. */
function work() {
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const failures: string[] = []
  return {
    begun,
    failures,
    failed: (error: unknown, key: string) => failures.push(`${key}: ${(error as Error).message}`),
    on: (key: string) => () => {
      begun.push(key)
      const end = Promise.withResolvers<void>()
      ends.set(key, end)
      return end.promise
    },
    end: (key: string) => ends.get(key)?.resolve(),
    fail: (key: string, why: string) => ends.get(key)?.reject(new Error(why)),
  }
}

const begins = (begun: readonly string[], count: number) =>
  until(`${count} have begun`, 30_000, () => begun.length >= count)

test('only a limited number run at once; the others follow in their order of arrival', async t => {
  const { begun, failed, on, end } = work()
  const queue = createKeyedQueue(2, failed)
  for (const key of ['a', 'b', 'c', 'd']) queue.start(key, on(key))
  t.deepEqual(begun, ['a', 'b'])
  t.deepEqual([...queue.busy()].sort(), ['a', 'b', 'c', 'd'])
  end('b')
  await begins(begun, 3)
  t.deepEqual(begun, ['a', 'b', 'c'])
  t.deepEqual([...queue.busy()].sort(), ['a', 'c', 'd'])
  end('a')
  await begins(begun, 4)
  end('c')
  end('d')
  await until('nothing is left', 30_000, () => queue.busy().size === 0)
})

test('further work for a key is dropped while the key has work, and accepted afterwards', async t => {
  const { begun, failed, on, end } = work()
  const queue = createKeyedQueue(1, failed)
  for (const key of ['a', 'b', 'a', 'b']) queue.start(key, on(key))
  end('a')
  await begins(begun, 2)
  end('b')
  await until('nothing is left', 30_000, () => queue.busy().size === 0)
  t.deepEqual(begun, ['a', 'b'])
  queue.start('a', on('a'))
  t.deepEqual(begun, ['a', 'b', 'a'])
  end('a')
})

test('work that hangs delays no other key, and work that fails is reported and makes room', async t => {
  const { begun, failures, failed, on, end, fail } = work()
  const queue = createKeyedQueue(2, failed)
  for (const key of ['hangs', 'fails', 'next', 'last']) queue.start(key, on(key))
  fail('fails', 'no disk')
  await begins(begun, 3)
  end('next')
  await begins(begun, 4)
  t.deepEqual(begun, ['hangs', 'fails', 'next', 'last'])
  t.deepEqual(failures, ['fails: no disk'])
  end('last')
  await until('only one is left', 30_000, () => queue.busy().size === 1)
  t.deepEqual([...queue.busy()], ['hangs'])
  end('hangs')
})

test('closing waits for what runs, drops what waits, and takes nothing more', async t => {
  const { begun, failed, on, end } = work()
  const queue = createKeyedQueue(1, failed)
  queue.start('a', on('a'))
  queue.start('b', on('b'))
  let isClosed = false
  const closing = queue.close().then(() => {
    isClosed = true
  })
  queue.start('c', on('c'))
  t.deepEqual([...queue.busy()], ['a'])
  await Promise.resolve()
  t.false(isClosed)
  end('a')
  await closing
  t.deepEqual(begun, ['a'])
  t.is(queue.busy().size, 0)
})
