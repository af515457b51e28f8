import test, { type ExecutionContext } from 'ava'
import { maxEventBytes } from '../../command-api/commit/event-json.ts'
import type { AdmissionResult } from '../../schemas/jobs/jobs.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Answer = AdmissionResult & { detail?: string; code?: string }
type Job = { project?: string; spec?: object; metadata?: object; key?: string; token?: string }

async function openForge(t: ExecutionContext) {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,query-api,relay,projector' })
  await forge.call('PUT', '/api/admin/profiles/local', {
    body: { series: 'local', gpus_per_node: 4, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const submit = (
    { project = 'one', spec = {}, metadata = {}, key, token = forge.token }: Job = {},
    via: Pick<Forge, 'call'> = forge,
  ) =>
    via.call<Answer>('POST', '/api/jobs', {
      token,
      headers: key === undefined ? {} : { 'idempotency-key': key },
      body: { api: 'forge/v2', metadata: { name: 'a job', project, ...metadata }, lock, spec },
    })
  return { forge, submit }
}

const numberOf = ({ short_id }: Answer) => Number(/\d+$/.exec(short_id)?.[0])
const numbers = (count: number, from: number) => Array.from({ length: count }, (_, n) => n + from)
const ascending = (values: number[]) => values.sort((a, b) => a - b)

test('jobs submitted at once are each created as if submitted separately', async t => {
  const opened = await openForge(t)
  await queueOneBehindTheOther(t, opened)
  await refuseTooBig(t, opened)
  await keepApart(t, opened)
})

type Opened = Awaited<ReturnType<typeof openForge>>

async function queueOneBehindTheOther(t: ExecutionContext, { forge, submit }: Opened) {
  const first = (await submit()).body
  t.like(first, { short_id: 'one-1', queue: { position: 1, ahead_gpus: 0 } })
  const answers = await Promise.all(
    numbers(40, 0).map(n => submit({ spec: { scheduling: { priority: n % 2 } } })),
  )
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const made = answers.map(({ body }) => body)
  t.deepEqual(ascending(made.map(numberOf)), numbers(40, 2))
  const { rows } = await forge.pool.query<{ types: string[] }>(
    `select (select array_agg(type order by stream_version) from write.event
              where stream = 'job-' || run_id) as types from write.job_state`,
  )
  t.is(rows.length, 41)
  for (const { types } of rows) t.deepEqual(types, ['job.admitted', 'job.queued'])
  const { queue } = (await submit({ spec: { scheduling: { priority: -1 } } })).body
  t.like(queue, { position: 42, ahead_gpus: 41, reason: 'waiting_capacity' })
  await until('all can be read', 60_000, async () => {
    const { body } = await forge.call<AdmissionResult[]>('GET', '/api/jobs?limit=100&state=queued')
    const listed = new Set(body.map(({ run_id }) => run_id))
    return made.every(({ run_id }) => listed.has(run_id))
  })
}

/** It does not fail the others. */
async function refuseTooBig(t: ExecutionContext, { submit }: Opened) {
  const notes = 'x'.repeat(1000)
  const big = {
    spec: {
      env: Object.fromEntries(numbers(20, 0).map(n => [`V${n}`, 'y'.repeat(maxEventBytes / 16)])),
    },
  }
  const answers = await Promise.all(
    numbers(20, 0).map(n => submit(n % 5 === 3 ? big : { metadata: { notes } })),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    numbers(20, 0).map(n => (n % 5 === 3 ? 413 : 200)),
  )
  t.is(answers[3]?.body.code, 'event.too_large')
}

/** Keys, new projects, held jobs and strangers. */
async function keepApart(t: ExecutionContext, { forge, submit }: Opened) {
  const token = await signedIn(forge, 'ada')
  const countJobs = async () => {
    const { rows } = await forge.pool.query<{ jobs: number; short_ids: number }>(
      'select count(*)::int as jobs, count(distinct short_id)::int as short_ids from write.job_state',
    )
    return rows[0] ?? { jobs: 0, short_ids: 0 }
  }
  const before = await countJobs()
  await submit({ key: 'known' })
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const jobs: Job[] = numbers(4, 0).flatMap(n => [
    {},
    { key: `key-${n}` },
    { key: 'twice' },
    { key: 'known' },
    { project: `new-${n % 2}` },
    { spec: { scheduling: { not_before: later } } },
    { token },
    { key: 'known', metadata: { name: 'another' } },
  ])
  const answers = await Promise.all(jobs.map(job => submit(job)))
  const of = (kind: number) => answers.filter((_, index) => index % 8 === kind)
  const runs = (kind: number) => new Set(of(kind).map(({ body }) => body.run_id)).size
  const replays = (kind: number) =>
    of(kind).filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length
  for (const kind of [0, 1, 4, 5]) {
    t.deepEqual(
      of(kind).map(({ status }) => status),
      [200, 200, 200, 200],
    )
    t.is(runs(kind), 4)
    t.is(replays(kind), 0)
    for (const { headers } of of(kind)) t.truthy(headers.get('forge-position'))
  }
  t.deepEqual([runs(2), replays(2), runs(3), replays(3)], [1, 3, 1, 4])
  for (const { body } of of(5))
    t.like(body, { state: 'held', state_reason: 'not_before', queue: null })
  for (const { status } of of(6)) t.is(status, 403)
  for (const { status, body } of of(7))
    t.deepEqual([status, body.code], [409, 'idempotency.other_body'])
  const { jobs: made, short_ids } = await countJobs()
  t.is(made - before.jobs, 18)
  t.is(made, short_ids)
}

test('two servers create one job for a key, and never assign a number twice', async t => {
  const { forge, submit } = await openForge(t)
  const other = await forge.another({ SERVICE_ROLES: 'command-api' })
  await submit()
  const answers = await Promise.all(
    numbers(60, 0).map(n =>
      submit(n % 3 === 0 ? { key: `key-${n % 5}` } : {}, n % 2 === 0 ? forge : other),
    ),
  )
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const keyed = answers.filter((_, n) => n % 3 === 0)
  t.is(new Set(keyed.map(({ body }) => body.run_id)).size, 5)
  const made = new Map(answers.map(({ body }) => [body.run_id, numberOf(body)]))
  t.is(made.size, 45)
  t.is(new Set(made.values()).size, 45)
})
