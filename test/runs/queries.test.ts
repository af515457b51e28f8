import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Run = Record<string, unknown> & {
  run_id: string
  summary: Record<string, Record<string, unknown>>
  counts: Record<string, number>
}

test('a run shows its reports: state, times, metrics, hparams, log, artifacts', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'hparams', { params: { lr: 0.1, 'opt.name': 'adam' } })
  await ingest(forge, run, 'hparams', { params: { lr: 0.01 } })
  await ingest(forge, run, 'metrics', {
    points: [
      { key: 'loss', step: 1, value: 2 },
      { key: 'loss', step: 2, value: 1 },
      { key: 'loss', step: 3, value: 'NaN' },
      { key: 'val/acc', step: 3, value: 0.5 },
    ],
  })
  await ingest(forge, run, 'logs', { chunks: ['one', 'zwei ü'] })
  const artifact = await ingest(forge, run, 'artifact', {
    kind: 'checkpoint',
    path: '/tmp/ckpt-3',
    format: 'npz',
    step: 3,
    size_bytes: 2_000_000_000,
  })
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  const path = `/api/runs/${run.short_id}`
  const record = await until('all is projected and the log is closed', 20_000, async () => {
    const { body } = await forge.call<Run>('GET', path)
    const { eof } = body.logs as { eof: boolean }
    return eof && body.counts.points === 4 && body.counts.artifacts === 1 ? body : null
  })
  t.like(record, {
    run_id: run.run_id,
    short_id: 'demo-1',
    project: 'demo',
    owner: 'admin',
    state: 'succeeded',
    source: 'external',
    job_exists: false,
    hparams: { lr: 0.01, 'opt.name': 'adam' },
    best: null,
    counts: { metric_keys: 2, points: 4, artifacts: 1, log_bytes: 12 },
    logs: { eof: true, bytes: 12 },
  })
  t.like(record.summary.loss, {
    last: 'NaN',
    min: 1,
    max: 2,
    mean: 1.5,
    step: 3,
    count: 3,
    nonfinite: 1,
  })
  for (const at of ['created_at', 'started_at', 'ended_at', 'last_report_at'])
    t.regex(String(record[at]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/, at)
  t.like((await forge.call('GET', `${path}/hparams`)).body, {
    params: { lr: 0.01 },
    changes: [{ key: 'lr', from: 0.1, to: 0.01 }],
  })
  const artifacts = await forge.call<object[]>('GET', `/api/jobs/${run.run_id}/artifacts`)
  t.like(artifacts.body[0] ?? {}, {
    artifact_id: artifact.artifact_id,
    kind: 'checkpoint',
    path: '/tmp/ckpt-3',
    step: 3,
    status: 'registered',
    is_latest: true,
    is_best: false,
    init_from: { artifact_id: artifact.artifact_id, load: ['weights', 'full_state'] },
    registered_by: 'ingest',
  })
  t.like((await forge.call('GET', '/api/auth/me')).body, {
    username: 'admin',
    role: 'admin',
    role_label: 'Admin',
    quota: { max_concurrent_gpus: 8, default: true },
    usage: { concurrent_gpus: 0, concurrent_jobs: 0, storage_gb: '2.0' },
  })
})

test('runs are listed newest first, filtered, sorted by fields and by metrics, in pages that do not overlap', async t => {
  const forge = await startForge(t)
  const runs: string[] = []
  for (let i = 0; i < 7; i++) {
    const run = await createRun(forge, i % 2 === 0 ? 'even' : 'odd')
    if (i > 1) {
      const points = [
        { key: 'acc', step: 1, value: i / 10 },
        { key: 'acc', step: 2, value: i === 3 ? 'NaN' : (i % 3) / 10 },
      ]
      await ingest(forge, run, 'metrics', { points })
    }
    runs.push(run.run_id)
  }
  const list = async (query: string) => {
    const { status, body, headers } = await forge.call<Run[]>('GET', `/api/runs?${query}`)
    t.is(status, 200, query)
    return { ids: body.map(run => runs.indexOf(run.run_id)), headers, body }
  }
  await until('the metrics are projected', 10_000, async () => {
    const { body } = await list('')
    return body.filter(run => run.counts.points === 2).length === 5
  })
  t.deepEqual((await list('')).ids, [6, 5, 4, 3, 2, 1, 0])
  t.deepEqual((await list('sort=created_at')).ids, [0, 1, 2, 3, 4, 5, 6])
  t.deepEqual((await list('project=odd')).ids, [5, 3, 1])
  t.deepEqual((await list('state=running,succeeded')).ids, [])
  t.deepEqual((await list('q=even-2')).ids, [2])
  t.deepEqual((await list('sort=-metric:acc:max')).ids, [6, 5, 4, 3, 2, 1, 0])
  t.deepEqual((await list('sort=metric:acc:max')).ids, [2, 3, 4, 5, 6, 1, 0])
  // Run 3 ended with NaN, which cannot be ordered, so it is listed with the runs that have no value.
  t.deepEqual((await list('sort=-metric:acc:last')).ids, [5, 2, 4, 6, 3, 1, 0])
  const pages = []
  for (let offset = 0; offset < 8; offset += 2)
    pages.push(...(await list(`sort=-metric:acc:last&limit=2&offset=${offset}`)).ids)
  t.deepEqual(pages, [5, 2, 4, 6, 3, 1, 0])
  const page = await list('limit=2&offset=2')
  t.is(page.headers.get('x-total-count'), '7')
  t.regex(String(page.headers.get('link')), /offset=4>; rel="next".*offset=0>; rel="prev"/)
  for (const bad of [
    'sort=secret',
    'state=asleep',
    'limit=0',
    'limit=501',
    'since=yesterday',
    'x=1',
  ])
    t.is((await forge.call('GET', `/api/runs?${bad}`)).status, 422, bad)
})

test('runs are sorted by a hyperparameter, numbers before words, and by how long they ran', async t => {
  const forge = await startForge(t)
  const created = []
  for (const width of [8, '64', 'wide', undefined, 16]) {
    const run = await createRun(forge, 'sorted')
    if (width !== undefined)
      await ingest(forge, run, 'hparams', { params: { 'a:b': width, width } })
    created.push(run)
  }
  const runs = created.map(run => run.run_id)
  const ids = async (query: string) => {
    const { status, body } = await forge.call<Run[]>('GET', `/api/runs?project=sorted&${query}`)
    t.is(status, 200, query)
    return body.map(run => runs.indexOf(run.run_id))
  }
  await until('the hyperparameters are projected', 10_000, async () =>
    isDeepStrictEqual(await ids('sort=hparam:a:b'), [0, 4, 1, 2, 3]),
  )
  t.deepEqual(await ids('sort=-hparam:a:b'), [1, 4, 0, 2, 3])
  t.deepEqual(
    [
      ...(await ids('sort=-hparam:a:b&limit=2')),
      ...(await ids('sort=-hparam:a:b&limit=3&offset=2')),
    ],
    [1, 4, 0, 2, 3],
  )
  t.deepEqual(await ids('sort=-hparam:none'), [4, 3, 2, 1, 0], 'newest first')
  t.deepEqual(await ids('sort=hparam:a:b&q=hparams.width>8'), [4, 1])

  // The second started later and ended earlier.
  const [long, short] = [created[0], created[2]]
  if (!long || !short) throw new Error('no run')
  for (const [run, event] of [
    [long, 'running'],
    [short, 'running'],
    [short, 'succeeded'],
    [long, 'succeeded'],
  ] as const)
    await ingest(forge, run, 'lifecycle', { event })
  await until('both have ended', 10_000, async () =>
    isDeepStrictEqual(await ids('sort=-duration_s&limit=2'), [0, 2]),
  )
  t.deepEqual(await ids('sort=duration_s'), [2, 0, 1, 3, 4])
})

test('unknown runs are the same 404 everywhere', async t => {
  const forge = await startForge(t)
  for (const path of [
    '',
    '/hparams',
    '/metrics/keys',
    '/metrics?keys=a',
    '/metrics/export',
    '/metrics/stream',
    '/logs',
    '/logs/download',
    '/logs/stream',
    '/artifacts',
  ]) {
    const answer = await forge.call('GET', `/api/runs/run_nobody${path}`)
    t.is(answer.status, 404, path)
    t.like(answer.body, { detail: 'No such run: run_nobody', code: 'not_found' })
    t.is((await forge.call('GET', `/api/runs/run_nobody${path}`, { token: null })).status, 401)
  }
  t.like((await forge.call('GET', '/api/jobs/run_nobody')).body, {
    detail: 'No such job: run_nobody',
  })
})
