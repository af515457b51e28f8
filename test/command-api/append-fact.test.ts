import test from 'ava'
import { createAppendFact } from '../../command-api/append-fact.ts'
import { type EventLog, LogUnavailable } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { Refusal } from '../../platform/refusal.ts'
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

test('each fact resolves with its own position', async t => {
  const { held, topic } = gated()
  const append = createAppendFact(held)
  const positions = await Promise.all(
    [0, 1, 2].map(n => append(topic, 'run_1', Buffer.from(String(n)))),
  )
  t.deepEqual(
    positions.map(({ offset }) => offset),
    [0n, 1n, 2n],
  )
})

test('a fact past the bound is refused at once, and accepted again after an acknowledgement', async t => {
  const { held, topic, shut } = gated()
  const append = createAppendFact(held, 8)
  const open = shut()
  const taken = append(topic, 'run_1', Buffer.from('12345'))
  const refusal = await t.throwsAsync(append(topic, 'run_1', Buffer.from('6789')), {
    instanceOf: Refusal,
  })
  t.like(refusal, { code: 'unavailable', status: 503 })
  open()
  await taken
  await t.notThrowsAsync(append(topic, 'run_1', Buffer.from('6789')))
})

test('a failed append frees its bytes', async t => {
  const { log, held, topic } = gated()
  const append = createAppendFact(held, 8)
  log.setAvailable(false)
  await t.throwsAsync(append(topic, 'run_1', Buffer.from('12345678')), {
    instanceOf: LogUnavailable,
  })
  log.setAvailable(true)
  t.is((await append(topic, 'run_1', Buffer.from('12345678'))).offset, 0n)
})
