import test from 'ava'
import { LogUnavailable } from '../../../platform/log/event-log.ts'
import { createMemoryLog } from '../../../platform/log/memory.ts'
import { record, take, testContract, topicsOfTest } from './contract.ts'

testContract(test, async () => async topics => createMemoryLog(topics))

test('during an outage appends reject and readers wait', async t => {
  const { single } = topicsOfTest()
  const log = createMemoryLog([single])
  log.setAvailable(false)
  await t.throwsAsync(log.append(single.name, [record('k', 'lost')]), {
    instanceOf: LogUnavailable,
  })
  const waiting = take(log, single.name, 0, 0n, 1)
  log.setAvailable(true)
  await log.append(single.name, [record('k', 'kept')])
  t.is((await waiting)[0]?.value.toString(), 'kept')
})
