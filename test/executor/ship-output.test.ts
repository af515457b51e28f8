import test from 'ava'
import { leftAloneOnceAway } from '../../executor/ship-output.ts'
import { LogUnavailable, RecordTooLarge } from '../../platform/log/event-log.ts'

function failingLog(error: Error) {
  const log = {
    appends: 0,
    async append(): Promise<never> {
      log.appends += 1
      throw error
    },
  }
  return log
}

test('after an append finds the log away, further ones of that pass are refused without asking it', async t => {
  const away = new LogUnavailable('it is down')
  const log = failingLog(away)
  const ofPass = leftAloneOnceAway(log)
  for (const _ of [1, 2, 3]) t.is(await t.throwsAsync(ofPass.append('logs', [])), away)
  t.is(log.appends, 1)
  await t.throwsAsync(leftAloneOnceAway(log).append('logs', []))
  t.is(log.appends, 2, 'the next pass asks again')
})

test('an append that is refused for its own sake leaves the log to the others', async t => {
  const log = failingLog(new RecordTooLarge('it is too large'))
  const ofPass = leftAloneOnceAway(log)
  for (const _ of [1, 2]) await t.throwsAsync(ofPass.append('logs', []))
  t.is(log.appends, 2)
})
