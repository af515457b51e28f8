import test from 'ava'
import { topicsOf } from '../../../events/topics.ts'
import { createMemoryLog } from '../../../platform/log/memory.ts'
import { drained } from '../../../server/backup/drain.ts'
import { startForge } from '../../servers/forge.ts'

test('a backup waits until earlier reports are projected, and names lagging projections', async t => {
  const { pool } = await startForge(t)
  const topics = topicsOf('drained')
  const log = createMemoryLog(Object.values(topics))
  const given = { log, topics, pool, signal: new AbortController().signal }
  await drained({ ...given, withinMs: 10_000 })
  const [at] = await log.append(topics.validation.name, [{ key: 'a', value: Buffer.from('x') }])
  await t.throwsAsync(drained({ ...given, withinMs: 100 }), {
    message: /^The projections validation have not caught up with the log within 0\.1 s/,
  })
  const waiting = drained({ ...given, withinMs: 60_000 })
  await log.append(topics.validation.name, [{ key: 'a', value: Buffer.from('later') }])
  await pool.query(
    `insert into read.projection_checkpoint (projection, topic, partition, next_offset)
     values ('validation', $1, $2, 1)`,
    [topics.validation.name, at?.partition],
  )
  await t.notThrowsAsync(waiting, 'the later report is not waited for')
})
