import test from 'ava'
import { connect, take } from '../servers/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'

test('the states of one run are streamed from its beginning to its end', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const url = `${forge.url}/api/stream?topics=job:${run.short_id}`
  const stream = await connect(url, forge.token)
  t.like(await stream.next(), { event: 'state', data: { run_id: run.run_id, state: 'pending' } })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const running = await stream.next()
  t.like(running, { event: 'state', data: { state: 'running', state_reason: null } })
  t.regex(String(running?.data.at), /\+00:00$/)
  stream.cut()
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  const again = await take(await connect(url, forge.token, running?.id), 3)
  t.is(again.length, 2)
  t.like(again[0], { event: 'state', data: { state: 'succeeded' } })
  t.like(again[1], { event: 'eof', data: { run_id: run.run_id, state: 'succeeded' } })
  t.is((await connect(url, forge.token, again[1]?.id)).status, 204)
})

test('a stream of all states continues from the cursor of a list without a gap', async t => {
  const forge = await startForge(t)
  const first = await createRun(forge)
  const list = await forge.call('GET', '/api/runs')
  const second = await createRun(forge)
  const after = list.headers.get('forge-cursor')
  const stream = await connect(`${forge.url}/api/stream?topics=jobs&after=${after}`, forge.token)
  t.like(await stream.next(), { data: { run_id: second.run_id, state: 'pending' } })
  await ingest(forge, first, 'lifecycle', { event: 'running' })
  t.like(await stream.next(), { data: { run_id: first.run_id, state: 'running' } })
  stream.cut()
})

test('a stream of all states is silent about deleted runs, even for readers with an earlier cursor', async t => {
  const forge = await startForge(t)
  const list = await forge.call('GET', '/api/runs')
  const gone = await createRun(forge)
  await ingest(forge, gone, 'lifecycle', { event: 'succeeded' })
  t.is((await forge.call('DELETE', `/api/runs/${gone.run_id}`)).status, 200)
  const kept = await createRun(forge)
  const listed = await forge.call<{ run_id: string }[]>('GET', '/api/runs')
  t.deepEqual(
    listed.body.map(run => run.run_id),
    [kept.run_id],
  )
  const url = `${forge.url}/api/stream?topics=jobs&after=${list.headers.get('forge-cursor')}`
  const told = async () => {
    const stream = await connect(url, forge.token)
    const first = await stream.next()
    stream.cut()
    return first?.data.run_id
  }
  t.is(await told(), kept.run_id)
  t.is((await forge.call('POST', `/api/runs/${gone.run_id}/restore`)).status, 200)
  await forge.call('GET', '/api/runs')
  t.is(await told(), gone.run_id)
})

test('edits of runs are streamed with what lists show, in order with the states, and are no states', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  const { run_id } = run
  const ended = await take(
    await connect(`${forge.url}/api/stream?topics=job:${run_id}`, forge.token),
    9,
  )
  t.is(ended.at(-1)?.event, 'eof')
  // A cursor of before the end would repeat it.
  const list = await forge.call('GET', '/api/runs')
  const url = `${forge.url}/api/stream?topics=jobs&after=${list.headers.get('forge-cursor')}`
  const stream = await connect(url, forge.token)
  const edit = async (body: object) => {
    t.is((await forge.call('PATCH', `/api/runs/${run_id}`, { body })).status, 200)
    return stream.next()
  }
  t.like(await edit({ name: 'best' }), { event: 'edit', data: { run_id, name: 'best' } })
  t.like(await edit({ tags: ['a'] }), { event: 'edit', data: { run_id, tags: ['a'] } })
  t.deepEqual(Object.keys((await edit({ notes: 'why' }))?.data ?? {}), ['run_id', 'at'])
  const marks = { starred: true, archived: true }
  t.like(await edit(marks), { event: 'edit', data: { run_id, ...marks } })
  stream.cut()
  const history = await take(
    await connect(`${forge.url}/api/stream?topics=job:${run_id}`, forge.token),
    9,
  )
  t.deepEqual(
    history.map(({ event }) => event),
    ['state', 'state', 'edit', 'edit', 'edit', 'edit', 'eof'],
  )
})

test('unknown topics and unknown runs are refused', async t => {
  const forge = await startForge(t)
  for (const topics of ['weather', 'jobs,weather', 'job:', ''])
    t.is((await forge.call('GET', `/api/stream?topics=${topics}`)).status, 422, topics)
  t.is((await forge.call('GET', '/api/stream')).status, 422)
  t.is((await forge.call('GET', '/api/stream?topics=job:run_nobody')).status, 404)
  t.is((await forge.call('GET', '/api/stream?topics=jobs', { token: null })).status, 401)
})
