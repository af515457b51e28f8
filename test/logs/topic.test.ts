import test from 'ava'
import { connect, take } from '../servers/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

test('a stream has the lines of a run from now on, and resumes where it stopped', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const report = (text: string) => ingest(forge, run, 'logs', { chunks: [text] })
  await report('before')
  await until('the first line can be read', 20_000, async () => {
    const { body } = await forge.call<object[]>('GET', `/api/runs/${run.run_id}/logs`)
    return body.length === 1
  })
  const url = `${forge.url}/api/stream?topics=logs:${run.run_id}`
  const stream = await connect(url, forge.token)
  t.is(stream.status, 200)
  await report('now')
  const [now] = await take(stream, 1)
  t.is(now?.event, 'log')
  t.like(now?.data, { seq: 2, text: 'now' })
  stream.cut()
  await report('meanwhile')
  const later = await connect(url, forge.token, now?.id)
  t.like((await take(later, 1))[0]?.data, { seq: 3, text: 'meanwhile' })
  later.cut()

  const stranger = await signedIn(forge, 'stranger')
  t.is((await connect(url, stranger)).status, 404)
  t.is((await connect(`${url},logs:another`, forge.token)).status, 422)
})
