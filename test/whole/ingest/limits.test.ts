import test from 'ava'
import { type Forge, startForge } from '../../servers/forge.ts'
import { until } from '../../servers/until.ts'

type Refused = {
  detail: string | { loc: unknown[]; type: string }[]
  code?: string
  data?: { field?: string }
}
type Hparams = { params: Record<string, string>; changes: { key: string }[] }
type Run = { run_id: string; token: string }

async function runIn(forge: Forge): Promise<Run> {
  const { body } = await forge.call<Run>('POST', '/api/runs', { body: { project: 'demo' } })
  return body
}

const ingest = (forge: Forge, { run_id, token }: Run, what: string, body: object) =>
  forge.call<Refused & Record<string, unknown>>('POST', `/api/ingest/${what}`, {
    token,
    body: { run_id, ...body },
  })

const values = (count: number, length: number, first = 'x') =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`key_${n}`, first + 'x'.repeat(length - 1)]),
  )

test.serial('hyperparameters of nearly 1 MiB are stored and changed, more is 413', async t => {
  const forge = await startForge(t)
  const run = await runIn(forge)
  t.like(await ingest(forge, run, 'hparams', { params: values(170, 6000) }), {
    status: 200,
    body: { added: 170, total: 170 },
  })
  t.like(await ingest(forge, run, 'hparams', { params: values(170, 6000, 'y') }), {
    status: 200,
    body: { added: 0, changed: 170 },
  })
  t.is((await ingest(forge, run, 'hparams', { params: values(180, 6000) })).status, 413)
  const path = `/api/runs/${run.run_id}`
  const { body } = await until('the changes are projected', 20_000, async () => {
    const reply = await forge.call<Hparams>('GET', `${path}/hparams`)
    return reply.body.changes.length === 170 && reply
  })
  t.true(Object.values(body.params).every(value => value.startsWith('y')))
  t.is(body.changes.length, 170)
  t.is(body.changes[169]?.key, 'key_169')
  const { rows } = await forge.pool.query(
    `select count(*) > 1 as several, max(length(data::text)) < 512 * 1024 as are_small
       from write.event where type = 'hparams.set'`,
  )
  t.deepEqual(rows, [{ several: true, are_small: true }])
  t.is((await ingest(forge, run, 'hparams', { params: { long: 'x'.repeat(6001) } })).status, 422)
})

test.serial('an artifact has at most 100 metrics in a body of 64 KiB', async t => {
  const forge = await startForge(t)
  const run = await runIn(forge)
  const register = (more: object) =>
    ingest(forge, run, 'artifact', { kind: 'checkpoint', path: '/tmp/a', format: 'pt', ...more })
  const scores = (count: number, prefix = 'k') =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n]))
  t.is((await register({ metrics: scores(100) })).status, 200)
  const tooMany = await register({ metrics: scores(101) })
  t.is(tooMany.status, 422)
  t.like(tooMany.body.detail[0], { loc: ['body', 'metrics'], type: 'too_long' })
  t.is((await register({ metrics: scores(100), path: 'x'.repeat(64 * 1024) })).status, 413)
})

test.serial(
  'registering an artifact again with changes counts towards the limit of its run, repeating it does not',
  async t => {
    const forge = await startForge(t)
    const run = await runIn(forge)
    const register = (size_bytes: number) =>
      ingest(forge, run, 'artifact', { kind: 'checkpoint', path: '/a', format: 'pt', size_bytes })
    t.like(await register(1), { status: 200, body: { created: true } })
    await forge.pool.query('update write.run_state set artifact_registrations = 9998')
    for (let n = 0; n < 3; n++) t.like(await register(1), { status: 200, body: { created: false } })
    t.is((await register(2)).status, 200)
    t.is((await register(3)).status, 200)
    t.like(await register(4), { status: 409, body: { code: 'artifact.too_many' } })
    t.is((await register(3)).status, 200, 'a repetition')
    const another = { kind: 'checkpoint', path: '/b', format: 'pt' }
    t.is((await ingest(forge, run, 'artifact', another)).status, 409)
    const { rows } = await forge.pool.query(
      `select count(*)::int as events from write.event where type = 'artifact.registered'`,
    )
    t.deepEqual(rows, [{ events: 3 }])
  },
)

type Listed = { run_id: string; summary: Record<string, object>; counts: Record<string, number> }

test.serial(
  'a run keeps its keys up to the limit, lists show 50 of them, and its own page shows all',
  async t => {
    const forge = await startForge(t)
    const run = await runIn(forge)
    const keys = Array.from({ length: 60 }, (_, n) => `key_${String(n).padStart(2, '0')}`)
    const points = (names: string[], step: number) => names.map(key => ({ key, step, value: step }))
    t.is((await ingest(forge, run, 'metrics', { points: points(keys, 1) })).status, 200)
    const record = () => forge.call<Listed>('GET', `/api/runs/${run.run_id}`)
    await until('the points are projected', 20_000, async () => {
      const { body } = await record()
      return body.counts.metric_keys === 60
    })
    t.deepEqual(Object.keys((await record()).body.summary).sort(), keys)
    const list = async (query: string) =>
      (await forge.call<Listed[]>('GET', `/api/runs${query}`)).body
    const [byAge] = await list('')
    t.deepEqual(Object.keys(byAge?.summary ?? {}), keys.slice(0, 50))
    t.like(byAge?.counts, { metric_keys: 60, points: 60 })
    const [byMetric] = await list('?sort=metric:key_59:last')
    t.deepEqual(Object.keys(byMetric?.summary ?? {}), ['key_59', ...keys.slice(0, 49)])

    await forge.pool.query('update read.metric_keys set keys = 99999')
    const other = await forge.another()
    const report = (names: string[]) =>
      other.call<Refused & { warnings?: { code: string }[] }>('POST', '/api/ingest/metrics', {
        token: run.token,
        body: { run_id: run.run_id, points: points(names, 2) },
      })
    t.like(await report(keys), { status: 200, body: { warnings: [{ code: 'metrics.many_keys' }] } })
    const refused = await report(['new', 'newer'])
    t.is(refused.status, 422)
    t.like(refused.body.detail[0], { loc: ['body', 'points'], type: 'too_long' })
    t.is((await report(['new'])).status, 200)
  },
)
