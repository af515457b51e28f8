import test from 'ava'
import { leftAloneOnceAway } from '../../executor/ship-output.ts'
import { LogUnavailable, RecordTooLarge } from '../../platform/log/event-log.ts'

function failingAppend(error: Error) {
  const counted = { appends: 0 }
  const append = async (): Promise<never> => {
    counted.appends += 1
    throw error
  }
  return { counted, append }
}

const output = {
  actor: { type: 'system', id: 'executor', via: 'output' },
  requestId: 'executor',
  now: new Date('2026-11-26T12:00:00Z'),
} as const

test('once an append finds the log down, the rest of the pass is refused without trying it', async t => {
  const down = new LogUnavailable('it is down')
  const { counted, append } = failingAppend(down)
  const inPass = leftAloneOnceAway(append)
  for (const _ of [1, 2, 3]) t.is(await t.throwsAsync(inPass('logs', output, [])), down)
  t.is(counted.appends, 1)
  await t.throwsAsync(leftAloneOnceAway(append)('logs', output, []))
  t.is(counted.appends, 2, 'the next pass tries again')
})

test('a record that is too large does not keep the rest of the pass from the log', async t => {
  const { counted, append } = failingAppend(new RecordTooLarge('it is too large'))
  const inPass = leftAloneOnceAway(append)
  for (const _ of [1, 2]) await t.throwsAsync(inPass('logs', output, []))
  t.is(counted.appends, 2)
})
