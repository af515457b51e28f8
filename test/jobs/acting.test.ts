import test, { type ExecutionContext } from 'ava'
import { asExecutor } from '../servers/as-executor.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Checkpoint = { artifact_id: string; path: string; step: number }
type Reply = {
  run_id: string
  state: string
  already: boolean
  deadline: string | null
  checkpoint: Checkpoint | null
  warnings: { code: string; detail: string }[]
}
type Detail = {
  state: string
  state_reason: string | null
  name: string
  tags: string[]
  priority: number
  conditions: string[]
  checkpoint: Checkpoint | null
  attempts: { attempt: number; resume_from: string | null }[]
  bill: { gpu_seconds: number; lines: { attempt: number; gpu_seconds: number }[] }
  spec: { metadata: { labels: object }; spec: { init_from: { artifact_id: string } | null } }
}

/** An epoch takes a tenth of a second, after which the code learns of a pause; all of them take longer than the tests may. */
const endless = { epochs: 10_000, hidden: 1024, eval_every: 1000 }

async function submit(forge: Forge, spec: object = {}, name = 'first'): Promise<string> {
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const body = { api: 'forge/v2', metadata: { name, project: 'demo' }, lock, spec }
  const submitted = await forge.call<{ run_id: string }>('POST', '/api/jobs', { body })
  if (submitted.status !== 200) throw new Error(JSON.stringify(submitted.body))
  return submitted.body.run_id
}

const read = async (forge: Forge, run_id: string) =>
  (await forge.call<Detail>('GET', `/api/jobs/${run_id}`)).body

const untilState = (forge: Forge, run_id: string, state: string) =>
  until(`${run_id} is ${state}`, 180_000, async () => {
    const job = await read(forge, run_id)
    return job.state === state && job
  })

const act = (forge: Forge, run_id: string, verb: string, body: object = {}) =>
  forge.call<Reply>('POST', `/api/jobs/${run_id}/${verb}`, { body })

/** The steps at which the code of a run logged that it continued; the log may arrive after the metrics. */
const wentOn = (forge: Forge, run_id: string) =>
  until('it continues', 180_000, async () => {
    const { body } = await forge.call<{ text: string }[]>(
      'GET',
      `/api/runs/${run_id}/logs?limit=500`,
    )
    const steps = body.flatMap(({ text }) => {
      const [, step] = /^continues after epoch \d+, step (\d+), /.exec(text) ?? []
      return step === undefined ? [] : Number(step)
    })
    return steps.length > 0 && steps
  })

const firstSteps = (forge: Forge, run_id: string, beyond: number) =>
  until('it trains', 180_000, async () => {
    const { body } = await forge.call<{ key: string; last_step: number }[]>(
      'GET',
      `/api/runs/${run_id}/metrics/keys`,
    )
    return body.some(({ key, last_step }) => key === 'train/loss' && last_step > beyond)
  })

/** Based only on the events: milliseconds from each attempt's `running` to its end. */
async function ranMs({ pool }: Forge, run_id: string): Promise<number[]> {
  const { rows } = await pool.query<{ ms: number }>(
    `select (extract(epoch from max((data ->> 'ended_at')::timestamptz) - min((data ->> 'started_at')::timestamptz)) * 1000)::float8 as ms
       from write.event where stream = $1 and type in ('job.running', 'job.exited')
      group by data ->> 'attempt' order by data ->> 'attempt'`,
    [`job-${run_id}`],
  )
  return rows.map(({ ms }) => Math.round(ms))
}

const heldBy = async ({ pool }: Forge) => {
  const { rows } = await pool.query(
    `select (select count(*)::int from write.gpu_slot) as slots,
            (select count(*)::int from write.quota_hold) as holds`,
  )
  return rows[0]
}

test('a paused job frees its GPUs, continues at the step of its checkpoint, and is not billed meanwhile', async t => {
  t.timeout(patient(400_000), 'the first run builds the environment of the recipe')
  const forge = await startForge(t)
  const run_id = await submit(forge, { params: endless })
  await untilState(forge, run_id, 'running')
  await firstSteps(forge, run_id, 10)

  const { body: pausing } = await act(forge, run_id, 'pause', { grace_s: 120, reason: 'lunch' })
  t.like(pausing, { state: 'pausing', already: false, checkpoint: null })
  t.regex(pausing.deadline ?? '', /\+00:00$/)
  t.is(pausing.warnings[0]?.code, 'no_checkpoint')
  const paused = await untilState(forge, run_id, 'paused')
  t.deepEqual(await heldBy(forge), { slots: 0, holds: 0 })
  const saved = paused.checkpoint as Checkpoint
  t.true(saved.step > 10, JSON.stringify(saved))
  t.deepEqual(paused.conditions, [], 'it has a checkpoint')
  t.like((await act(forge, run_id, 'pause')).body, { state: 'paused', already: true })

  const { body: resumed } = await act(forge, run_id, 'resume')
  t.like(resumed, { state: 'queued', already: false, deadline: null })
  t.is(resumed.checkpoint?.artifact_id, saved.artifact_id)
  await untilState(forge, run_id, 'running')
  await firstSteps(forge, run_id, saved.step)
  t.deepEqual(await wentOn(forge, run_id), [saved.step])
  const { attempts } = await read(forge, run_id)
  t.deepEqual(
    attempts.map(each => each.resume_from),
    [null, saved.artifact_id],
  )
  t.like(await act(forge, run_id, 'resume'), {
    status: 409,
    body: { detail: 'A job that is running cannot be resumed' },
  })

  await act(forge, run_id, 'stop', { force: true })
  const stopped = await untilState(forge, run_id, 'stopped')
  const ran = await ranMs(forge, run_id)
  t.is(ran.length, 2)
  t.deepEqual(
    [1, 2].map(attempt =>
      stopped.bill.lines
        .filter(line => line.attempt === attempt)
        .reduce((sum, line) => sum + Math.round(line.gpu_seconds * 1000), 0),
    ),
    ran,
  )
  const late = await act(forge, run_id, 'stop')
  t.is(late.status, 409)
  t.regex(String((late.body as { detail?: string }).detail), /^Job already stopped \(stopped at /)

  await retriedAndStopped(t, forge, { run_id, saved })
})

/** On the same server, whose recipe is ready. */
async function retriedAndStopped(
  t: ExecutionContext,
  forge: Forge,
  { run_id, saved }: { run_id: string; saved: Checkpoint },
) {
  type Retried = { run_id: string; retry_of: string; checkpoint: Checkpoint }
  const again = await forge.call<Retried>('POST', `/api/jobs/${run_id}/retry`, {
    headers: { 'idempotency-key': 'again' },
  })
  t.is(again.status, 200, JSON.stringify(again.body))
  t.like(again.body, { retry_of: run_id, checkpoint: { artifact_id: saved.artifact_id } })
  const next = again.body.run_id
  t.not(next, run_id)
  const repeated = await forge.call<Retried>('POST', `/api/jobs/${run_id}/retry`, {
    headers: { 'idempotency-key': 'again' },
  })
  t.is(repeated.body.run_id, next)
  t.deepEqual(await wentOn(forge, next), [saved.step])
  const { spec } = await read(forge, next)
  t.like(spec.spec.init_from, { artifact_id: saved.artifact_id, load: 'full_state' })
  t.deepEqual(spec.metadata.labels, { 'retry-of': run_id })
  const refused = await act(forge, next, 'retry')
  t.is(refused.status, 409)
  await act(forge, next, 'stop', { force: true })
  await untilState(forge, next, 'stopped')
}

/** A server on which jobs wait forever. */
const idle = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }

type Idle = Awaited<ReturnType<typeof startIdle>>

async function startIdle(t: ExecutionContext) {
  const forge = await startForge(t, idle)
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 8, executor: 'local' },
  })
  const spare = { resources: { profile: 'spare' } }
  return {
    forge,
    queue: (name: string, more: object = {}) => submit(forge, { ...spare, ...more }, name),
  }
}

/** A waiting job moves in the queue with its priority, and is found by its new name and tags. */
async function changes(t: ExecutionContext, { forge, queue }: Idle) {
  await queue('first')
  const second = await queue('second')
  const change = (body: object) => forge.call('PATCH', `/api/jobs/${second}`, { body })
  t.like((await change({ priority: 10 })).body, { priority: 10, place: { position: 1 } })
  t.like((await change({ priority: -10 })).body, { priority: -10, place: { position: 2 } })
  t.like((await change({ name: 'Größe', tags: ['baseline'] })).body, {
    name: 'Größe',
    tags: ['baseline'],
    queue: 'default',
  })
  t.like(await read(forge, second), { name: 'Größe', tags: ['baseline'], priority: -10 })
  const found = await forge.call<{ run_id: string }[]>('GET', '/api/jobs?q=baseline')
  t.deepEqual(
    found.body.map(row => row.run_id),
    [second],
  )
  const run = await forge.call<{ name: string }>('GET', `/api/runs/${second}`)
  t.is(run.body.name, 'Größe')
  for (const [body, type] of [
    [{ priority: 101 }, 'less_than_equal'],
    [{ queue: 'fast' }, 'literal_error'],
    [{ owner: 'eve' }, 'extra_forbidden'],
  ] as const) {
    const refused = await change(body)
    t.is(refused.status, 422)
    t.is((refused.body.detail as { type: string }[])[0]?.type, type)
  }
  const { body: audit } = await forge.call<{ type: string; summary: string }[]>(
    'GET',
    `/api/audit?target=job:${second}`,
  )
  t.deepEqual(
    audit.filter(({ type }) => /changed|renamed|tagged/.test(type)).map(({ summary }) => summary),
    [
      'admin tagged job demo-2: baseline',
      'admin renamed job demo-2 to Größe',
      'admin changed the priority of job demo-2 from 10 to -10',
      'admin changed the priority of job demo-2 from 0 to 10',
    ],
  )
}

/** A clone is the JobSpec with later changes, and its masked secrets must be filled in. */
async function clones(t: ExecutionContext, { forge, queue }: Idle) {
  const run_id = await queue('first', { env: { HUB_TOKEN: 'abc', NCCL_DEBUG: 'WARN' } })
  await forge.call('PATCH', `/api/jobs/${run_id}`, { body: { name: 'better' } })
  type Spec = { metadata: { name: string }; spec: { env: Record<string, string> } }
  const { body: spec } = await forge.call<Spec>('POST', `/api/jobs/${run_id}/clone`)
  t.is(spec.metadata.name, 'better')
  t.deepEqual(spec.spec.env, { HUB_TOKEN: '***', NCCL_DEBUG: 'WARN' })
  const masked = await forge.call('POST', '/api/jobs', { body: spec })
  t.is(masked.status, 400)
  t.like(masked.body, { gate: 'env', code: 'env.masked', data: { refused: ['HUB_TOKEN'] } })
  spec.spec.env.HUB_TOKEN = 'def'
  t.is((await forge.call('POST', '/api/jobs', { body: spec })).status, 200)

  await act(forge, run_id, 'stop')
  const retry = (body: object) => forge.call('POST', `/api/jobs/${run_id}/retry`, { body })
  t.like((await retry({})).body, { code: 'env.masked' })
  t.is((await retry({ env: { HUB_TOKEN: 'ghi' } })).status, 200)
}

/** A job whose machine falls silent is unreachable until the machine is heard from again. */
async function fallsSilent(t: ExecutionContext, { forge, queue }: Idle) {
  const run_id = await queue('first')
  const executor = asExecutor(forge.pool)
  await executor.schedule(run_id, [])
  const conditions = async () => (await read(forge, run_id)).conditions
  const heardOf = (ago: string) =>
    forge.pool.query(
      `insert into write.engine (engine, seen_at) values ('test', now() - $1::interval)
       on conflict (engine) do update set seen_at = excluded.seen_at`,
      [ago],
    )
  await heardOf('3 minutes')
  await until('it is unreachable', 60_000, async () => (await conditions()).includes('unreachable'))
  t.not((await read(forge, run_id)).state, 'failed', 'a condition, and no end')
  await heardOf('0 minutes')
  await until('it has recovered', 60_000, async () => (await conditions()).length === 0)
}

type Documented = {
  post?: { requestBody: { content: { 'application/json': { example: object } } } }
}

/** Every response to a report carries the platform's request to the code. */
async function tellsCode(t: ExecutionContext, { forge }: Idle) {
  const run = await createRun(forge)
  await forge.call('POST', `/api/runs/${run.run_id}/stop`)
  const body = { name: 'helpful', criteria: [{ name: 'clear' }] }
  await forge.call('PUT', '/api/rubrics/admin/helpful', { body })
  const { body: api } = await forge.call<{ paths: Record<string, Documented> }>(
    'GET',
    '/api/openapi.json',
  )
  const routes = Object.entries(api.paths).filter(([path]) => path.startsWith('/api/ingest/'))
  t.true(routes.length >= 10)
  for (const [path, { post }] of routes) {
    // Requesting the address of an upload is not a report, and neither are reads by MLflow's clients and requests of the Hub's.
    if (!post || path.endsWith('/search') || path.startsWith('/api/ingest/hub/')) continue
    const example = post.requestBody.content['application/json'].example
    const reported = await until(`${path} responds`, 30_000, async () => {
      const reply = await forge.call<{ control?: { action: string } }>('POST', path, {
        token: run.token,
        body: { ...example, run_id: run.run_id },
      })
      t.is(reply.status, 200, `${path} ${JSON.stringify(reply.body)}`)
      // Knowledge about a run is remembered for a second.
      return reply.headers.get('forge-control') === 'checkpoint_and_exit' && reply
    })
    if (/lifecycle|logs/.test(path)) t.is(reported.body.control?.action, 'checkpoint_and_exit')
  }
}

test('jobs are changed, cloned and found silent, and their code receives requests', async t => {
  t.timeout(patient(400_000))
  const idle = await startIdle(t)
  await changes(t, idle)
  await clones(t, idle)
  await fallsSilent(t, idle)
  await tellsCode(t, idle)
})
