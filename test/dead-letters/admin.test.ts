import test from 'ava'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import { encodedFact } from '../encoded-fact.ts'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

type Letter = { letter_id: string; key: string; error: string; bytes: number }
type Run = { run_id: string; token: string }
type Read = { summary: { [key: string]: { last: number; count: number } } }

const path = '/api/admin/dead-letters'
const idOf = (offset: number) => `forge.metrics:2:${offset}`

/** In the state left by an earlier version that could not apply it. */
async function park(forge: Forge, { run_id }: Run, offset: number, value?: Buffer): Promise<void> {
  const receivedAtMs = 1_790_000_000_000
  const points = [{ key: 'loss', step: offset, value: 1e308 }]
  const { fact } = recordMetrics({ run_id, points }, receivedAtMs)
  await forge.pool.query(
    `insert into read.dead_letter (topic, partition, "offset", key, error, value)
     values ('forge.metrics', 2, $1, $2, 'value out of range: overflow', $3)`,
    [offset, run_id, value ?? encodedFact(fact, receivedAtMs)],
  )
}

test('a parked record is counted, listed and shown; replayed it takes effect, dropped it never does', async t => {
  const forge = await startForge(t)
  const { body: run } = await forge.call<Run>('POST', '/api/runs', { body: { project: 'demo' } })
  t.like(await forge.call('GET', '/api/readyz', { token: null }), {
    status: 200,
    body: { status: 'ready', checks: { dead_letters: { parked: 0 } } },
  })
  await park(forge, run, 71)
  await park(forge, run, 72)
  await park(forge, run, 73, Buffer.from('garbage'))
  t.like(await forge.call('GET', '/api/readyz', { token: null }), {
    status: 200,
    body: { status: 'degraded', checks: { dead_letters: { ok: true, parked: 3 } } },
  })
  const metrics = await forge.call<string>('GET', '/api/metrics')
  t.true(metrics.body.includes('forge_dead_letters_parked{topic="forge.metrics"} 3'))

  const { run: cli } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const listed = await cli(['admin', 'dead-letters', 'list'])
  t.is(listed.code, 0, listed.stderr)
  for (const offset of [71, 72, 73]) t.true(listed.stdout.includes(idOf(offset)), listed.stdout)
  const shown = await cli(['admin', 'dead-letters', 'show', idOf(71), '--json'])
  t.like(JSON.parse(shown.stdout), {
    key: run.run_id,
    type: 'metrics.appended',
    received_at: '2026-09-21T14:13:20+00:00',
    request_id: 'req-00000001',
  })
  t.like(await forge.call('GET', `${path}/${idOf(73)}`), {
    body: { type: null, value: Buffer.from('garbage').toString('base64') },
  })

  const replayed = await cli(['admin', 'dead-letters', 'replay', idOf(71)])
  t.is(replayed.code, 0, replayed.stderr)
  const { body } = await forge.call<Read>('GET', `/api/runs/${run.run_id}`)
  t.like(body.summary, { loss: { last: 1e308, count: 1 } })
  t.is((await forge.call('POST', `${path}/${idOf(71)}/replay`)).status, 404)
  t.is((await cli(['admin', 'dead-letters', 'drop', idOf(72)])).code, 0)
  t.like(await forge.call('POST', `${path}/${idOf(73)}/replay`), {
    status: 409,
    body: { code: 'dead_letter.not_applicable' },
  })
  const left = await forge.call<Letter[]>('GET', `${path}?run_id=${run.run_id}`)
  t.deepEqual(
    left.body.map(({ letter_id }) => letter_id),
    [idOf(73)],
  )
  const { rows } = await forge.pool.query(
    `select type, data ->> 'letter_id' as letter, data ->> 'key' as key, meta -> 'actor' ->> 'id' as actor
       from write.event where type like 'dead_letter.%' order by position`,
  )
  const told = { key: run.run_id, actor: 'admin' }
  t.deepEqual(rows, [
    { type: 'dead_letter.replayed', letter: idOf(71), ...told },
    { type: 'dead_letter.dropped', letter: idOf(72), ...told },
  ])
})

test('the projector continues after a replay, even with keys from the replay', async t => {
  const forge = await startForge(t)
  const { body: run } = await forge.call<Run>('POST', '/api/runs', { body: { project: 'demo' } })
  const report = (key: string, step: number) =>
    forge.call('POST', '/api/ingest/metrics', {
      token: run.token,
      body: { run_id: run.run_id, points: [{ key, step, value: step }] },
    })
  t.is((await report('acc', 1)).status, 200)
  const count = async (key: string) =>
    (await forge.call<Read>('GET', `/api/runs/${run.run_id}`)).body.summary?.[key]?.count
  await until('the first report is projected', 30_000, async () => (await count('acc')) === 1)
  await park(forge, run, 71)
  t.is((await forge.call('POST', `${path}/${idOf(71)}/replay`)).status, 200)
  for (const key of ['loss', 'acc', 'new']) t.is((await report(key, 500)).status, 200)
  await until('all are projected', 30_000, async () => (await count('new')) === 1)
  t.deepEqual([await count('loss'), await count('acc')], [2, 2])
  t.like(await forge.call('GET', '/api/readyz', { token: null }), { body: { status: 'ready' } })
})

test('missing letters and invalid names are refused', async t => {
  const forge = await startForge(t)
  for (const [id, status] of [
    ['forge.metrics:0:1', 404],
    ['other:0:1', 404],
    ['forge.metrics', 422],
    ['forge.metrics:x:1', 422],
  ] as const) {
    t.is((await forge.call('GET', `${path}/${id}`)).status, status, id)
    t.is((await forge.call('POST', `${path}/${id}/replay`)).status, status, id)
    t.is((await forge.call('DELETE', `${path}/${id}`)).status, status, id)
  }
})
