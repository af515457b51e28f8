import test from 'ava'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import { decodeFact, type UnstampedFact } from '../../events/fact.ts'
import { type EventLog, LogUnavailable } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { Refusal } from '../../platform/refusal.ts'
import { encodedFact, eventIdOfTest, stampOfRun } from '../encoded-fact.ts'
import { topicsOfTest } from '../platform/log/contract.ts'

/** A memory log whose appends are held back while `gate` is shut. */
function gated() {
  const { single } = topicsOfTest()
  const log = createMemoryLog([single])
  let gate = Promise.resolve()
  const held: EventLog = {
    ...log,
    async append(topic, records) {
      await gate
      return await log.append(topic, records)
    },
  }
  const shut = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }
  return { log, held, topic: single.name, shut }
}

const stamp = stampOfRun('run_1', 1_790_000_000_000)
const fact = (text: string): UnstampedFact => ({
  type: 'logs.appended',
  run_id: 'run_1',
  attempt: null,
  body: Buffer.from(text),
})
const sizeOf = (text: string) => encodedFact(fact(text)).length
const appends = (log: EventLog, maxBytes?: number) =>
  createFactAppends(log, () => eventIdOfTest, maxBytes)

test('each fact resolves with its own position', async t => {
  const { held, topic } = gated()
  const { appendFact } = appends(held)
  const positions = await Promise.all([0, 1, 2].map(n => appendFact(topic, stamp, fact(String(n)))))
  t.deepEqual(
    positions.map(({ offset }) => offset),
    [0n, 1n, 2n],
  )
})

test('a fact past the bound is refused at once, and accepted again after an acknowledgement', async t => {
  const { held, topic, shut } = gated()
  const { appendFact } = appends(held, sizeOf('12345') + 1)
  const open = shut()
  const taken = appendFact(topic, stamp, fact('12345'))
  const refusal = await t.throwsAsync(appendFact(topic, stamp, fact('6789')), {
    instanceOf: Refusal,
  })
  t.like(refusal, { code: 'unavailable', status: 503 })
  open()
  await taken
  await t.notThrowsAsync(appendFact(topic, stamp, fact('6789')))
})

test('a failed append frees its bytes', async t => {
  const { log, held, topic } = gated()
  const { appendFact } = appends(held, sizeOf('12345678'))
  log.setAvailable(false)
  await t.throwsAsync(appendFact(topic, stamp, fact('12345678')), {
    instanceOf: LogUnavailable,
  })
  log.setAvailable(true)
  t.is((await appendFact(topic, stamp, fact('12345678'))).offset, 0n)
})

test('several facts keep their order, bear one stamp, and share the bound with all others', async t => {
  const { log, held, topic, shut } = gated()
  const { appendFact, appendFacts } = appends(held, sizeOf('1') * 2)
  const open = shut()
  const taken = appendFacts(topic, stamp, [fact('1'), fact('2')])
  await t.throwsAsync(appendFact(topic, stamp, fact('3')), { instanceOf: Refusal })
  await t.throwsAsync(appendFacts(topic, stamp, [fact('4')]), { instanceOf: Refusal })
  open()
  t.deepEqual(
    (await taken).map(({ offset }) => offset),
    [0n, 1n],
  )
  const signal = AbortSignal.timeout(10_000)
  for await (const { records } of log.read(topic, 0, 0n, { maxBytes: 1 << 20, signal })) {
    const facts = records.map(({ value }) => decodeFact(value))
    t.deepEqual(
      facts.map(({ body }) => body.toString()),
      ['1', '2'],
    )
    for (const { event_id, received_at_ms, actor, request_id } of facts)
      t.deepEqual(
        { event_id, received_at_ms, actor, request_id },
        {
          event_id: eventIdOfTest,
          received_at_ms: stamp.now.getTime(),
          actor: stamp.actor,
          request_id: stamp.requestId,
        },
      )
    break
  }
})
