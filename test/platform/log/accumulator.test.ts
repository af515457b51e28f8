import test from 'ava'
import { createAccumulator, LogFull } from '../../../platform/log/accumulator.ts'
import { type EventLog, LogUnavailable } from '../../../platform/log/event-log.ts'
import { createMemoryLog } from '../../../platform/log/memory.ts'
import { record, topicsOfTest } from './contract.ts'

/** A memory log that counts its appends, and delays them while `gate` is shut. */
function watched() {
  const { single } = topicsOfTest()
  const log = createMemoryLog([single])
  const sizes: number[] = []
  let gate = Promise.resolve()
  const counting: EventLog = {
    ...log,
    async append(topic, records) {
      sizes.push(records.length)
      await gate
      return await log.append(topic, records)
    },
  }
  const shut = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }
  return { log, counting, topic: single.name, sizes, shut }
}

test('records that come together leave in one append, each answered with its own position', async t => {
  const { counting, topic, sizes } = watched()
  const accumulator = createAccumulator(counting)
  const positions = await Promise.all(
    Array.from({ length: 100 }, (_, i) => accumulator.append(topic, record('k', String(i)))),
  )
  t.deepEqual(sizes, [100])
  t.deepEqual(
    positions.map(({ offset }) => Number(offset)),
    Array.from({ length: 100 }, (_, i) => i),
  )
  t.is(accumulator.unackedBytes, 0)
})

test('enough bytes leave at once, and later records wait for the append under way', async t => {
  const { counting, topic, sizes, shut } = watched()
  const accumulator = createAccumulator(counting, { flushBytes: 10, lingerMs: 60_000 })
  const open = shut()
  const first = accumulator.append(topic, record('k', '0123456789'))
  const later = [1, 2, 3].map(i => accumulator.append(topic, record('k', `later-${i}...`)))
  t.deepEqual(sizes, [1])
  open()
  await Promise.all([first, ...later])
  t.deepEqual(sizes, [1, 3])
})

test('what would pass the bound is refused at once and taken again after an acknowledgement', async t => {
  const { counting, topic, shut } = watched()
  const accumulator = createAccumulator(counting, { maxUnackedBytes: 8 })
  const open = shut()
  const taken = accumulator.append(topic, record('k', '12345'))
  t.throws(() => accumulator.append(topic, record('k', '6789')), { instanceOf: LogFull })
  open()
  await taken
  await t.notThrowsAsync(accumulator.append(topic, record('k', '6789')))
})

test('a failed append rejects all of its records, frees their bytes and does not block the next', async t => {
  const { log, counting, topic } = watched()
  const accumulator = createAccumulator(counting)
  log.setAvailable(false)
  const failed = await Promise.allSettled(
    [1, 2].map(i => accumulator.append(topic, record('k', `${i}`))),
  )
  for (const outcome of failed)
    t.true(outcome.status === 'rejected' && outcome.reason instanceof LogUnavailable)
  t.is(accumulator.unackedBytes, 0)
  log.setAvailable(true)
  t.is((await accumulator.append(topic, record('k', 'kept'))).offset, 0n)
})
