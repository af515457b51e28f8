import { randomBytes } from 'node:crypto'
import type { ExecutionContext, TestFn } from 'ava'
import {
  type Batch,
  type EventLog,
  LogShortened,
  LogUnavailable,
} from '../../../platform/log/event-log.ts'
import { partitionOf } from '../../../platform/log/partition.ts'
import type { Topic } from '../../../platform/log/topic.ts'

/** An adapter under test: each call opens the same log of one test. */
export type Open = (topics: readonly Topic[]) => Promise<EventLog>

/** Unique names for one test, because all tests share a broker. */
export function topicsOfTest(): { facts: Topic; single: Topic } {
  const id = randomBytes(6).toString('hex')
  return {
    facts: { name: `test-${id}.facts`, partitions: 3, retentionDays: 30 },
    single: { name: `test-${id}.single`, partitions: 1, retentionDays: null },
  }
}

export const record = (key: string, text: string) => ({ key, value: Buffer.from(text) })

/** Reads `count` records, then stops reading. */
export async function take(
  log: EventLog,
  topic: string,
  partition: number,
  from: bigint,
  count: number,
  maxBytes = 1 << 20,
): Promise<Batch['records']> {
  const stop = new AbortController()
  const records: Batch['records'] = []
  if (count === 0) return records
  for await (const batch of log.read(topic, partition, from, { maxBytes, signal: stop.signal })) {
    records.push(...batch.records)
    if (records.length >= count) break
  }
  stop.abort()
  return records
}

const texts = (records: Batch['records']) => records.map(({ value }) => value.toString())

/** The rules of the `EventLog` port, for any adapter. */
export function testContract(test: TestFn, adapter: (t: ExecutionContext) => Promise<Open>): void {
  const open = async (t: ExecutionContext) => {
    const topics = topicsOfTest()
    const log = await (await adapter(t))([topics.facts, topics.single])
    t.teardown(() => log.close())
    return { log, ...topics }
  }

  test('appended records are read in order, with its key, headers and bytes', async t => {
    const { log, single } = await open(t)
    const bytes = Buffer.from([0, 255, 10, 92, 39, 128])
    await log.append(single.name, [
      { key: 'ключ "1"', headers: { ce_type: 'a\\b', empty: '' }, value: bytes },
      record('b', ''),
    ])
    const [first, second] = await take(log, single.name, 0, 0n, 2)
    t.like(first, { key: 'ключ "1"', offset: 0n, headers: { ce_type: 'a\\b', empty: '' } })
    t.deepEqual(first?.value, bytes)
    t.is(second?.key, 'b')
    t.is(second?.value.length, 0)
  })

  test('positions are dense, start at 0, and follow the partitioner of Kafka', async t => {
    const { log, facts } = await open(t)
    const records = Array.from({ length: 60 }, (_, i) => record(`run-${i % 7}`, String(i)))
    const positions = [
      ...(await log.append(facts.name, records.slice(0, 1))),
      ...(await log.append(facts.name, records.slice(1))),
    ]
    const next = [0n, 0n, 0n]
    for (const [index, { topic, partition, offset }] of positions.entries()) {
      t.is(topic, facts.name)
      t.is(partition, partitionOf(records[index]?.key ?? '', 3))
      t.is<bigint | undefined, bigint | undefined>(offset, next[partition])
      next[partition] = offset + 1n
    }
    t.deepEqual(await log.end(facts.name), next)
    t.deepEqual(await log.start(facts.name), [0n, 0n, 0n])
  })

  test('concurrent appends of one process keep the order of the calls for each key', async t => {
    const { log, facts } = await open(t)
    const calls = Array.from({ length: 400 }, (_, i) => record(`run-${i % 5}`, `${i % 5}:${i}`))
    const positions = (await Promise.all(calls.map(call => log.append(facts.name, [call])))).flat()
    const ends = await log.end(facts.name)
    const stored = await Promise.all(
      ends.map((end, p) => take(log, facts.name, p, 0n, Number(end))),
    )
    const seen = stored.flat().map(({ value }) => value.toString())
    t.deepEqual([...seen].sort(), calls.map(({ value }) => value.toString()).sort())
    for (let key = 0; key < 5; key++) {
      const mine = (text: string) => text.startsWith(`${key}:`)
      t.deepEqual(seen.filter(mine), calls.map(({ value }) => value.toString()).filter(mine))
    }
    for (const [index, { partition, offset }] of positions.entries())
      t.is(stored[partition]?.[Number(offset)]?.value.toString(), calls[index]?.value.toString())
  })

  test('reading starts at any position and yields nothing below it', async t => {
    const { log, single } = await open(t)
    const records = Array.from({ length: 30 }, (_, i) => record('k', String(i)))
    await log.append(single.name, records)
    for (const from of [0, 1, 17, 29]) {
      const read = await take(log, single.name, 0, BigInt(from), 30 - from)
      t.is(read[0]?.offset, BigInt(from))
      t.deepEqual(
        texts(read),
        records.slice(from).map(({ value }) => value.toString()),
      )
    }
  })

  test('a reader at the end waits, gets the next records, and ends when aborted', async t => {
    const { log, single } = await open(t)
    await log.append(single.name, [record('k', 'before')])
    const stop = new AbortController()
    const reader = log.read(single.name, 0, 1n, { maxBytes: 1 << 20, signal: stop.signal })
    const coming = reader.next()
    await log.append(single.name, [record('k', 'after')])
    const { value } = await coming
    t.deepEqual(texts(value.records), ['after'])
    const last = reader.next()
    stop.abort()
    t.true((await last).done)
  })

  test('a slow reader is handed batches within its bound and misses nothing', async t => {
    const { log, single } = await open(t)
    const stop = new AbortController()
    const maxBytes = 10_000
    const reader = log.read(single.name, 0, 0n, { maxBytes, signal: stop.signal })
    const sizes = Array.from({ length: 200 }, (_, i) => (i === 50 ? 25_000 : (i * 37) % 3000))
    const first = reader.next()
    for (let i = 0; i < sizes.length; i += 10)
      await log.append(
        single.name,
        sizes.slice(i, i + 10).map(size => ({ key: 'k', value: Buffer.alloc(size, 'x') })),
      )
    const read: number[] = []
    for (let step = await first; ; step = await reader.next()) {
      const batch: Batch = step.value
      const bytes = batch.records.reduce((sum, { value }) => sum + value.length, 0)
      t.true(bytes <= maxBytes || batch.records.length === 1, `${bytes} bytes at once`)
      read.push(...batch.records.map(({ value }) => value.length))
      if (read.length >= sizes.length) break
    }
    stop.abort()
    t.deepEqual(read, sizes)
  })

  test('two readers of one partition do not disturb each other', async t => {
    const { log, single } = await open(t)
    const append = async (from: number, to: number) => {
      for (let i = from; i < to; i++) await log.append(single.name, [record('k', String(i))])
    }
    await append(0, 20)
    const reading = Promise.all([
      take(log, single.name, 0, 0n, 50),
      take(log, single.name, 0, 20n, 30, 100),
    ])
    await append(20, 50)
    const [one, two] = await reading
    t.deepEqual(
      texts(one),
      Array.from({ length: 50 }, (_, i) => String(i)),
    )
    t.deepEqual(
      texts(two),
      Array.from({ length: 30 }, (_, i) => String(i + 20)),
    )
  })

  test('reading from a position beyond the log is an error, not an endless wait', async t => {
    const { log, single } = await open(t)
    await log.append(single.name, [record('k', 'only')])
    const reading = take(log, single.name, 0, 7n, 1)
    await t.throwsAsync(reading, {
      instanceOf: LogShortened,
      message: /ends at 1, .* continues at 7/,
    })
  })

  test('a closed log refuses appends and ends its readers', async t => {
    const { log, single } = await open(t)
    const { signal } = new AbortController()
    const waiting = log.read(single.name, 0, 0n, { maxBytes: 1000, signal }).next()
    await log.close()
    t.true((await waiting).done)
    await t.throwsAsync(log.append(single.name, [record('k', 'late')]), {
      instanceOf: LogUnavailable,
    })
  })

  test('a topic that was not declared is refused by name', async t => {
    const { log } = await open(t)
    await t.throwsAsync(async () => await log.append('contract.none', [record('k', 'x')]), {
      message: /contract\.none/,
    })
  })
}
