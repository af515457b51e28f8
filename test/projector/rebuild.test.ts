import test from 'ava'
import { dumpReadModels } from '../servers/dump.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { settled } from '../servers/settled.ts'
import { until } from '../servers/until.ts'

type Projections = {
  projections: { name: string; lag_records: number; generation: number; halted: string | null }[]
  rebuild: { state: string; error: string | null; done_records: number; total_records: number }
}
type Created = { run_id: string; token: string }

/** For operators, and different in each generation by design. */
const bookkeeping = new Set(['generation', 'migration', 'projection_checkpoint'])
/** Their blocks and chunks are cut by batches; their content is compared as decoded series. */
const isCut = (table: string) => table.startsWith('metric_')

async function fill(forge: Forge, runs: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < runs; n++) {
    const { body: run } = await forge.call<Created>('POST', '/api/runs', {
      body: { project: `p${n % 3}` },
    })
    ids.push(run.run_id)
    const send = (route: string, body: object) =>
      forge.call('POST', `/api/ingest/${route}`, {
        token: run.token,
        body: { run_id: run.run_id, ...body },
      })
    await send('lifecycle', { event: 'running' })
    await send('hparams', { params: { lr: n / 10, seed: n } })
    for (let step = 0; step < 20; step++)
      await send('metrics', {
        points: [
          { key: 'loss', step, value: 1 / (step + 1) },
          { key: 'acc', step, value: step },
        ],
      })
    await send('hparams', { params: { lr: n } })
    await send('logs', { chunks: [`line of ${n}`, 'zwei 两'] })
    const at = { ts: '2026-11-20T12:00:00Z', scope: 'gpu' }
    for (const index of [1, 0, n])
      await send('hardware', { points: [{ ...at, index, util_pct: n, throttle: ['power'] }] })
    for (const reward of [0, n])
      await send('validation', {
        ...{ step: 10, chunk_index: 1, total_chunks: 2 },
        samples: [{ user: 'zwei 两', reward, extra: { b: 1, a: [n] } }],
      })
    await send('lifecycle', { event: n % 2 ? 'succeeded' : 'failed' })
    await forge.call('PUT', `/api/rubrics/admin/r${n % 4}`, {
      body: { name: `r${n % 4}`, criteria: [{ name: `c${n}` }] },
    })
  }
  return ids
}

const projections = async (forge: Forge) =>
  (await forge.call<Projections>('GET', '/api/admin/projections')).body

async function series(forge: Forge, runs: readonly string[]): Promise<object[]> {
  const read = (run: string) =>
    forge.call<{ key: string; points: unknown[] }[]>(
      'GET',
      `/api/runs/${run}/metrics?keys=loss,acc`,
    )
  return (await Promise.all(runs.map(read))).flatMap(({ body }) => body)
}

test('a rebuild of all read models gives identical tables, while the live ones serve and change', async t => {
  const forge = await startForge(t)
  const runs = await fill(forge, 8)
  // The logs of ended runs are closed a few seconds after their end.
  await until('all logs are closed', 20_000, async () => {
    const { rows } = await forge.pool.query(
      'select count(*) as open from write.run_state where ended_at is not null and eof_sent_at is null',
    )
    return rows[0]?.open === 0
  })
  await until('the failures are diagnosed', 60_000, async () => {
    const { rows } = await forge.pool.query(
      "select count(*)::int as done from read.diagnoses where status = 'succeeded'",
    )
    return rows[0]?.done === 4
  })
  await settled(forge)
  const compared = (table: string) => !bookkeeping.has(table) && !isCut(table)
  const before = await dumpReadModels(forge.pool, compared)
  const seriesBefore = await series(forge, runs)
  t.is(before.rubrics?.length, 4)
  t.is(seriesBefore.length, 16)

  const begun = await forge.call('POST', '/api/admin/projections/all/rebuild')
  t.is(begun.status, 200)
  t.is((await forge.call('POST', '/api/admin/projections/all/rebuild')).status, 409)
  const done = await until('the rebuild is over', 30_000, async () => {
    const { rebuild } = await projections(forge)
    return rebuild.state !== 'running' && rebuild
  })
  t.is(done.error, null)
  t.is(done.state, 'succeeded')
  t.true(done.total_records > 0)
  t.is(done.done_records, done.total_records)
  t.deepEqual([...new Set((await projections(forge)).projections.map(row => row.generation))], [2])
  const after = await dumpReadModels(forge.pool, compared)
  // The request for the rebuild is an event itself, which appears only in these tables.
  const asked = '(projection-all,1)'
  const [added, ...more] =
    after.applied_event?.filter(id => !before.applied_event?.includes(id)) ?? []
  t.deepEqual(more, [])
  t.deepEqual(
    {
      ...after,
      stream_head: after.stream_head?.filter(head => head !== asked),
      applied_event: after.applied_event?.filter(id => id !== added),
    },
    before,
  )
  t.deepEqual(await series(forge, runs), seriesBefore)

  // The live projector continues in the new generation.
  const { body } = await forge.call<{ version: number }>('PUT', '/api/rubrics/admin/after', {
    body: { name: 'after', criteria: [{ name: 'c' }] },
  })
  t.is(body.version, 1)
  // It may have to notice the flip first, which takes longer than a read waits for a write.
  await until('the rubric shows', 20_000, async () => {
    const { status } = await forge.call('GET', '/api/rubrics/admin/after')
    return status === 200
  })
})

test('a rebuild during writes loses none of them', async t => {
  const forge = await startForge(t)
  await fill(forge, 3)
  await forge.call('POST', '/api/admin/projections/decisions/rebuild')
  let written = 0
  for (let isRunning = true; isRunning; written++) {
    const name = `w${written}`
    const { status } = await forge.call('PUT', `/api/rubrics/admin/${name}`, {
      body: { name, criteria: [{ name: 'c' }] },
    })
    t.is(status, 200)
    isRunning = (await projections(forge)).rebuild.state === 'running'
  }
  t.is((await projections(forge)).rebuild.state, 'succeeded')
  await settled(forge)
  for (let n = 0; n < written; n++)
    t.is((await forge.call('GET', `/api/rubrics/admin/w${n}`)).status, 200, `w${n} of ${written}`)
})

test('an operator may neither see nor rebuild projections', async t => {
  const forge = await startForge(t)
  t.is((await forge.call('GET', '/api/admin/projections', { token: null })).status, 401)
  t.is((await forge.call('POST', '/api/admin/projections/nonsense/rebuild')).status, 404)
})
