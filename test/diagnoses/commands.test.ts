import test from 'ava'
import type { Diagnosis } from '../../schemas/diagnoses.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { traceback } from './given.ts'

const shared = sharedForge()

const withinMs = 60_000
const ask = (forge: Forge, job_id: string, token?: string) =>
  forge.call<{ diagnosis_id: number; status: string }>('POST', '/api/job/diagnose', {
    body: { job_id },
    ...(token !== undefined && { token }),
  })
const read = async (forge: Forge, id: number) =>
  (await forge.call<Diagnosis>('GET', `/api/diagnoses/${id}`)).body
const finished = (forge: Forge, id: number) =>
  until(`diagnosis ${id} is finished`, withinMs, async () => {
    const found = await read(forge, id)
    return found.finished_at ? found : undefined
  })
const ofRun = async (forge: Forge, { run_id }: ExternalRun, token?: string) => {
  const options = token === undefined ? {} : { token }
  const path = `/api/jobs/${run_id}/diagnoses`
  const { status, body } = await forge.call<Diagnosis[]>('GET', path, options)
  // On a busy machine the read models may not include the run yet.
  return status === 404 ? [] : body
}

async function failedRun(forge: Forge, raised: string): Promise<ExternalRun> {
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', value: 0.5, step: 182 }] })
  await ingest(forge, run, 'logs', { chunks: ['begins', traceback(raised)], rank: 3, node: 'n1' })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1 })
  return run
}

const automatic = (forge: Forge, run: ExternalRun, token?: string) =>
  until('the failure is diagnosed', withinMs, async () => {
    const [found] = await ofRun(forge, run, token)
    return found?.finished_at ? found : undefined
  })

test('a run that fails is diagnosed automatically, once, with evidence that points into its log', async t => {
  const forge = await shared()
  const run = await failedRun(
    forge,
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB',
  )
  const found = await automatic(forge, run)
  t.like(found, {
    run_id: run.run_id,
    job_id: run.run_id,
    attempt: null,
    status: 'succeeded',
    trigger: 'auto',
    requested_by: 'forge',
    category: 'gpu_oom',
    blame: 'user',
    title: 'CUDA out of memory on rank 3 at step 182',
    error: null,
    feedback: null,
    analyzer: { rules: '2026.11', llm: null },
    similar: { count_30d: 0, run_ids: [] },
  })
  t.like(found.origin, { node: 'n1', rank: 3, step: 182 })
  const [first] = found.evidence ?? []
  t.deepEqual(first?.ref, { offset: 5, node: 'n1', rank: 3 })
  t.regex(found.fingerprint ?? '', /^fp_[0-9a-f]{16}$/)
  t.is((await ofRun(forge, run)).length, 1)
})

test('asking again creates a new diagnosis and supersedes the old one, which stays readable', async t => {
  const forge = await shared()
  const run = await failedRun(forge, 'ZeroDivisionError: division by zero')
  const first = await automatic(forge, run)
  const asked = await ask(forge, run.short_id)
  t.is(asked.status, 200)
  t.is(asked.body.status, 'pending')
  t.true(asked.body.diagnosis_id > first.diagnosis_id)
  const second = await finished(forge, asked.body.diagnosis_id)
  t.like(second, { status: 'succeeded', trigger: 'manual', requested_by: 'admin' })
  t.is(second.fingerprint, first.fingerprint)
  t.like(await finished(forge, first.diagnosis_id), { status: 'superseded', title: first.title })
})

test('asking while one is pending returns the same id, however many ask at once', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const asked = await Promise.all(Array.from({ length: 8 }, () => ask(forge, run.run_id)))
  const ids = new Set(asked.map(({ body }) => body.diagnosis_id))
  const stored = await until('the diagnoses are listed', withinMs, async () => {
    const listed = await ofRun(forge, run)
    return listed.length >= ids.size && listed
  })
  // One may be finished before the last of the eight requests.
  t.is(ids.size, stored.length)
  t.true(ids.size < 8)
})

test('similar failures share a fingerprint, and only readers of a run see the similarity', async t => {
  const forge = await shared()
  const one = await failedRun(forge, "KeyError: 'epoch 17' at 0x7f00")
  const other = await failedRun(forge, "KeyError: 'epoch 18' at 0x7fff")
  const [first, second] = [await automatic(forge, one), await automatic(forge, other)]
  t.is(first.fingerprint, second.fingerprint)
  t.deepEqual((await finished(forge, second.diagnosis_id)).similar, {
    count_30d: 1,
    run_ids: [one.run_id],
  })
  const token = await signedIn(forge, 'ben')
  const mine = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project: 'bens' },
    token,
  })
  for (const [route, body] of [
    ['logs', { chunks: [traceback("KeyError: 'epoch 3' at 0x1")] }],
    ['lifecycle', { event: 'failed' }],
  ] as const)
    await ingest(forge, mine.body, route, body)
  const bens = await automatic(forge, mine.body, token)
  t.is(bens.fingerprint, first.fingerprint)
  t.deepEqual(bens.similar, { count_30d: 0, run_ids: [] })
  t.is((await finished(forge, bens.diagnosis_id)).similar.count_30d, 2)
  const foreign = await forge.call('GET', `/api/diagnoses/${first.diagnosis_id}`, { token })
  t.is(foreign.status, 404)
  t.is((await ask(forge, one.run_id, token)).status, 404)
})

test('a fault code among the readings of a GPU explains a failure without words', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const of = (ts: string, xid: number | null) => ({
    ...{ ts, node: 'n7', scope: 'gpu', index: 3, util_pct: 97, xid },
  })
  const points = [of('2026-11-20T12:00:00Z', null), of('2026-11-20T12:00:15Z', 79)]
  await ingest(forge, run, 'hardware', { points })
  await until('the readings are projected', withinMs, async () => {
    const { status, body } = await forge.call<{ series: object[] }>(
      'GET',
      `/api/runs/${run.run_id}/hardware`,
    )
    return status === 200 && body.series.length > 0
  })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1 })
  const found = await automatic(forge, run)
  t.like(found, { category: 'gpu_error', subcategory: 'xid', blame: 'hardware' })
  t.is(found.title, 'GPU 3 of n7 reported xid 79')
  t.like(found.evidence?.[0], { kind: 'hardware', ref: { node: 'n7', index: 3 } })
})

test('no secret that a run printed is in its diagnosis', async t => {
  const forge = await shared()
  const secret = 'hf_AbCdEfGhIjKlMnOpQrStUvWx'
  const run = await failedRun(
    forge,
    `RuntimeError: cannot log in with token=${secret} at https://u:pa55word@hub.example/x?sig=abcdef0123`,
  )
  const text = JSON.stringify(await automatic(forge, run))
  for (const hidden of [secret, 'pa55word', 'abcdef0123']) t.false(text.includes(hidden), hidden)
})

test('bad requests name their field, and a missing run is 404', async t => {
  const forge = await shared()
  t.is((await ask(forge, 'run_unknown')).status, 404)
  const bad = await forge.call<{ detail: { loc: string[] }[] }>('POST', '/api/job/diagnose', {
    body: { job_id: 1 },
  })
  t.is(bad.status, 422)
  t.deepEqual(bad.body.detail[0]?.loc, ['body', 'job_id'])
  t.is((await forge.call('GET', '/api/diagnoses/999999')).status, 404)
  t.is((await forge.call('GET', '/api/diagnoses/none')).status, 422)
})
