import test from 'ava'
import { connect, take } from '../servers/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'

test('a stream has each alert of a run, again when it is resolved, and resumes where it stopped', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const another = await createRun(forge)
  const url = `${forge.url}/api/stream?topics=alerts:${run.run_id}`
  // The run is readable now, so the stream does not have to wait.
  await forge.call('GET', `/api/runs/${run.run_id}`)
  const stream = await connect(url, forge.token)
  t.is(stream.status, 200)
  const loss = (step: number, value: number | 'NaN') => ({ points: [{ key: 'loss', step, value }] })
  await ingest(forge, run, 'metrics', loss(1, 'NaN'))
  const [fired] = await take(stream, 1)
  t.is(fired?.event, 'alert')
  t.like(fired?.data, { run_id: run.run_id, state: 'open', title: 'loss is NaN at step 1' })
  await ingest(forge, another, 'alert', { title: 'of another run' })
  await ingest(forge, run, 'metrics', loss(2, 1))
  const [resolved] = await take(stream, 1)
  t.like(resolved?.data, { alert_id: fired?.data.alert_id, state: 'resolved' })
  stream.cut()
  const later = await connect(url, forge.token, fired?.id)
  t.deepEqual(await take(later, 1), [resolved])
  later.cut()

  const stranger = await signedIn(forge, 'stranger')
  t.is((await connect(url, stranger)).status, 404)
})
