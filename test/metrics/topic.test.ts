import test from 'ava'
import { connect, take } from '../servers/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'

test('a stream has the points of a run from now on, and resumes where it stopped', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const loss = (step: number) => ({ points: [{ key: 'loss', step, value: step / 2 }] })
  await ingest(forge, run, 'metrics', loss(1))
  const url = `${forge.url}/api/stream?topics=metrics:${run.run_id}`
  // Waits until the first point can be read.
  await forge.call('GET', `/api/runs/${run.run_id}/metrics/keys`)
  const stream = await connect(url, forge.token)
  t.is(stream.status, 200)
  await ingest(forge, run, 'metrics', loss(2))
  const [second] = await take(stream, 1)
  t.is(second?.event, 'points')
  t.like(second?.data, { points: [{ key: 'loss', step: 2, value: 1 }] })
  stream.cut()
  await ingest(forge, run, 'metrics', loss(3))
  const later = await connect(url, forge.token, second?.id)
  t.like((await take(later, 1))[0]?.data, { points: [{ key: 'loss', step: 3, value: 1.5 }] })
  later.cut()

  const stranger = await signedIn(forge, 'stranger')
  t.is((await connect(url, stranger)).status, 404)
  t.is((await connect(`${url},metrics:another`, forge.token)).status, 422)
})
