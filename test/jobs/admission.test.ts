import test, { type ExecutionContext } from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

type Refused = { detail: string; gate?: string; code?: string; data?: Record<string, unknown> }
type Admitted = { run_id: string; short_id: string; state: string }
type Gates = { ok: boolean; gates: { gate: string; ok: boolean }[] }

/** A server without an executor, so that jobs stay in the queue, and hardware that an admin described. */
async function forgeWithoutExecutor(t: ExecutionContext): Promise<Forge> {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/local', {
    body: { series: 'local', gpus_per_node: 4, executor: 'local' },
  })
  return forge
}

async function specOf(
  forge: Forge,
  spec: Record<string, unknown> = {},
  project = 'math-rl',
): Promise<Record<string, unknown>> {
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  return { api: 'forge/v2', metadata: { name: 'a job', project }, lock, spec }
}

const submit = <T = Admitted>(forge: Forge, body: unknown, headers: Record<string, string> = {}) =>
  forge.call<T>('POST', '/api/jobs', { body, headers })

test.serial('a job is admitted into the queue, with the results of all gates', async t => {
  const forge = await forgeWithoutExecutor(t)
  const { status, headers, body } = await submit<Record<string, unknown>>(
    forge,
    await specOf(forge),
  )
  t.is(status, 200)
  t.truthy(headers.get('forge-position'))
  t.regex(String(body.run_id), /^run_[0-9A-Z]{26}$/)
  t.is(body.job_id, body.run_id)
  t.like(body, {
    short_id: 'math-rl-1',
    project: 'math-rl',
    state: 'queued',
    state_reason: 'waiting_capacity',
    dialect: 'forge/v2',
    queue: { position: 1, ahead_gpus: 0 },
    resolved: { init_from: null, datasets: [] },
    urls: { logs: `/api/jobs/${body.run_id}/logs/stream` },
  })
  t.is((await submit(forge, await specOf(forge))).body.short_id, 'math-rl-2')
})

test.serial('a refusal names its gate, and creates nothing', async t => {
  const forge = await forgeWithoutExecutor(t)
  const refused = await submit<Refused>(
    forge,
    await specOf(forge, { resources: { gpus_per_node: 16 } }),
  )
  t.is(refused.status, 400)
  t.like(refused.body, {
    detail: 'Insufficient quota: requested 16 GPUs, available 8',
    gate: 'quota',
    code: 'quota.max_concurrent_gpus',
    data: { requested: 16, available: 8, limit: 'max_concurrent_gpus' },
  })
  t.is((await submit(forge, await specOf(forge))).body.short_id, 'math-rl-1')
})

test.serial(
  'another dialect is refused by its gate, regardless of the shape of its body',
  async t => {
    const forge = await forgeWithoutExecutor(t)
    const refused = await submit<Refused>(forge, { api: 'forge/v3', jobs: [] })
    t.is(refused.status, 400)
    t.is(refused.body.gate, 'dialect')
    t.is((await submit(forge, { jobs: [] })).status, 422)
  },
)

test.serial('preflight runs all gates and creates nothing', async t => {
  const forge = await forgeWithoutExecutor(t)
  const spec = await specOf(forge, {
    source: { entrypoint: 'x' },
    volumes: [{ name: 'a', mount_path: '/a' }],
  })
  const { status, body } = await forge.call<Gates>('POST', '/api/jobs/preflight', { body: spec })
  t.is(status, 200)
  t.false(body.ok)
  t.deepEqual(
    body.gates.flatMap(({ gate, ok }) => (ok ? [] : [gate])),
    ['entrypoint_override', 'references'],
  )
  const well = await forge.call<Gates>('POST', '/api/jobs/preflight', { body: await specOf(forge) })
  t.like(well.body, { ok: true, queue: { position: 1 } })
})

test.serial('one key creates one job, however many requests are concurrent', async t => {
  const forge = await forgeWithoutExecutor(t)
  const spec = await specOf(forge)
  const key = { 'idempotency-key': 'submit-once' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(forge, spec, key)))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.is(new Set(answers.map(({ body }) => body.run_id)).size, 1)
  t.is(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 19)
  const other = await submit<Refused>(forge, await specOf(forge, { params: { epochs: 7 } }), key)
  t.is(other.status, 409)
  t.is((await submit(forge, spec)).body.short_id, 'math-rl-2')
})

test.serial('jobs submitted at once get numbers without gap or repeat', async t => {
  const forge = await forgeWithoutExecutor(t)
  const spec = await specOf(forge)
  const answers = await Promise.all(Array.from({ length: 30 }, () => submit(forge, spec)))
  const numbers = answers.map(({ body }) => Number(body.short_id.slice('math-rl-'.length)))
  t.deepEqual(
    numbers.sort((a, b) => a - b),
    Array.from({ length: 30 }, (_, index) => index + 1),
  )
})

test.serial('a queued job stops at once, by its id or short id, and then is over', async t => {
  const forge = await forgeWithoutExecutor(t)
  const { body: job } = await submit(forge, await specOf(forge))
  const stopped = await forge.call('POST', `/api/jobs/${job.short_id}/stop`, {
    body: { reason: 'not needed' },
  })
  t.is(stopped.status, 200)
  t.deepEqual(stopped.body, {
    run_id: job.run_id,
    state: 'stopped',
    accepted: true,
    already: false,
    deadline: null,
    checkpoint: null,
    warnings: [],
  })
  const again = await forge.call<Refused>('POST', `/api/jobs/${job.run_id}/stop`)
  t.is(again.status, 409)
  t.regex(again.body.detail, /^Job already stopped \(stopped at 20\d\d-.*\+00:00\)$/)
  t.is((await forge.call('POST', '/api/jobs/run_nothing/stop')).status, 404)
})

test.serial('among concurrent stops, one stops the job and the others get 409', async t => {
  const forge = await forgeWithoutExecutor(t)
  const { body: job } = await submit(forge, await specOf(forge))
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => forge.call('POST', `/api/jobs/${job.run_id}/stop`)),
  )
  t.deepEqual(answers.map(({ status }) => status).sort(), [
    200,
    ...Array.from({ length: 9 }, () => 409),
  ])
})

test.serial('the log of a job that never ran ends too', async t => {
  const forge = await forgeWithoutExecutor(t)
  const { body: job } = await submit(forge, await specOf(forge))
  await forge.call('POST', `/api/jobs/${job.run_id}/stop`)
  const closed = await until('its log is closed', 60_000, async () => {
    const { body } = await forge.call('GET', `/api/jobs/${job.run_id}/logs/stream`, {
      headers: { accept: 'text/event-stream' },
    })
    return String(body).includes('event: eof') && String(body)
  })
  t.regex(closed, /event: eof/)
})
