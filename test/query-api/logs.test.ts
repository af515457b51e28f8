import test from 'ava'
import { connect, type StreamEvent, take } from '../servers/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'

test('a stream cut 50 times at random places resumes without gaps or repeats, and ends once', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const total = 4000
  const writing = (async () => {
    for (let line = 0; line < total; ) {
      const size = Math.min(total - line, 1 + Math.floor(Math.random() * 60))
      await ingest(forge, run, 'logs', {
        chunks: Array.from({ length: size }, (_, i) => `line ${line + i} ${'·'.repeat(i)}`),
      })
      line += size
    }
    await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  })()
  const url = `${forge.url}/api/runs/${run.run_id}/logs/stream`
  const events: StreamEvent[] = []
  const cuts = 50
  for (let cut = 0; cut <= cuts; cut++) {
    const stream = await connect(url, forge.token, events.at(-1)?.id)
    t.is(stream.status, 200)
    // Cut while bytes are still arriving; after the last cut, read to the end.
    const count = cut < cuts ? 1 + Math.floor(Math.random() * 70) : Number.POSITIVE_INFINITY
    events.push(...(await take(stream, count)))
    stream.cut()
  }
  await writing
  const end = events.pop()
  t.like(end, { event: 'eof', data: { run_id: run.run_id, state: 'succeeded' } })
  t.deepEqual(
    events.map(event => event.data.seq),
    Array.from({ length: total }, (_, i) => i + 1),
  )
  t.is((await connect(url, forge.token, end?.id)).status, 204)
})
