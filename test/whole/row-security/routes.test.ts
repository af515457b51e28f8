import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { listen } from '../../../platform/http/server.ts'
import { httpShell } from '../../../platform/http/shell.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { prepareReaderRole } from '../../../platform/postgres/reader-role.ts'
import { inProcessSignals } from '../../../platform/signals.ts'
import { telemetry } from '../../../platform/telemetry.ts'
import { systemClock } from '../../../platform/time.ts'
import { auditReader } from '../../../query-api/audit/reader.ts'
import { createReads, type Reads } from '../../../query-api/reads.ts'
import { queryRoutes, type ReadTables } from '../../../query-api/slices.ts'
import { createStreams } from '../../../query-api/sse.ts'
import { projectionProgress } from '../../../query-api/wait.ts'
import type { WakeUps } from '../../../schemas/wake-ups.ts'
import { type Forge, startForge } from '../../servers/forge.ts'
import { signedIn } from '../../servers/people.ts'
import { createRun, ingest } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'
import { person } from './rows.ts'

type Belongings = { run_id: string; job_id: string }

/** What there is to hide: a project of Alice's with a run that has reported of everything, a job and a rubric. */
async function fill(forge: Forge): Promise<Belongings> {
  const alice = { ...forge, token: await signedIn(forge, 'alice') }
  const call = (method: string, path: string, body: object) =>
    forge.call<{ run_id: string }>(method, path, { token: alice.token, body })
  const run = (await call('POST', '/api/runs', { project: 'alices' })).body
  const reporting = { ...run, short_id: 'alices-1', token: '', ...run }
  await ingest(forge, reporting, 'lifecycle', { event: 'running' })
  await ingest(forge, reporting, 'hparams', { params: { secret: 1 } })
  await ingest(forge, reporting, 'metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
  await ingest(forge, reporting, 'logs', { chunks: ['a secret line'] })
  await ingest(forge, reporting, 'artifact', {
    kind: 'checkpoint',
    path: '/tmp/secret',
    format: 'npz',
    step: 1,
  })
  await call('PUT', '/api/rubrics/alice/secret', { name: 'secret', criteria: [{ name: 'c' }] })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { body: job } = await call('POST', '/api/jobs', {
    api: 'forge/v2',
    metadata: { name: 'held', project: 'alices' },
    lock,
    spec: { scheduling: { not_before: '2099-01-01T00:00:00+00:00' } },
  })
  await until('everything is projected', 20_000, async () => {
    const { rows } = await forge.pool.query(
      `select (select count(*) from read.log_chunks) > 0 and (select count(*) from read.metric_latest) > 0
          and (select count(*) from read.artifacts) > 0 and (select count(*) from read.jobs) > 0
          and (select count(*) from read.rubrics) > 0 as is_filled`,
    )
    return rows[0]?.is_filled
  })
  return { run_id: run.run_id, job_id: job.run_id }
}

/**
 * The queries of the service with the first wall off: they are told that an administrator calls, so that none
 * filters. What is left is the second wall, which holds for that person.
 */
async function startWithoutFilters(t: ExecutionContext, forge: Forge, username: string) {
  const url = String(forge.pool.options.connectionString)
  const { role } = await prepareReaderRole(url, 'read')
  const pool = createPool(url, { max: 6, searchPath: 'read', applicationName: 'forge test' })
  t.teardown(() => pool.end())
  const real = createReads<ReadTables>({ pool, role })
  const reads: Reads<ReadTables> = {
    ...real,
    as: (_, runIds) => real.as(person(username), runIds),
  }
  const authenticate = async () => person('root', 'admin')
  const logger = pino({ level: 'silent' })
  const signals = inProcessSignals<WakeUps>()
  const progress = () => projectionProgress(pool)
  const streams = createStreams({ signals, logger, authenticate, progress })
  const routes = queryRoutes({
    reads,
    pool: forge.pool,
    openStream: streams.open,
    now: systemClock,
    catalogue: [],
    audit: auditReader(forge.pool),
    signIn: { accessTokenHours: 1, baseUrl: () => '', providerName: null },
  })
  const app = httpShell({
    routes,
    authenticate,
    log: logger,
    metrics: telemetry().http,
    trustedProxyHops: 0,
    admit: () => {},
    count: async () => {},
  })
  const server = await listen(app, '127.0.0.1', 0)
  t.teardown(async () => {
    await streams.close()
    await server.close()
  })
  /** Of a stream, only whether it opens. */
  const get = async (path: string) => {
    const abort = new AbortController()
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { signal: abort.signal })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const text = isStream ? '' : await response.text()
    abort.abort()
    return { status: response.status, text }
  }
  return { get, paths: routes.filter(isPersonal).map(route => route.path) }
}

const isPersonal = ({ method, credential }: { method: string; credential: string }) =>
  method === 'GET' && credential === 'person'

const queryOf: Record<string, string> = { '/api/runs/{run_id}/metrics': '?keys=loss' }

/** The path of that of Alice's things; null where the route is about something else. */
function toAlices(path: string, { run_id, job_id }: Belongings): string | null {
  if (path === '/api/stream') return `/api/stream?topics=job:${job_id}`
  const filled = path
    .replace('{run_id}', path === '/api/jobs/{run_id}' ? job_id : run_id)
    .replace('/projects/{name}', '/projects/alices')
    .replace('/rubrics/{owner}/{name}', '/rubrics/alice/secret')
  return filled === path || filled.includes('{') ? null : `${filled}${queryOf[path] ?? ''}`
}

test('with every filter of the queries off, no route shows a stranger anything', async t => {
  const forge = await startForge(t)
  const things = await fill(forge)
  const [stranger, owner] = await Promise.all([
    startWithoutFilters(t, forge, 'eve'),
    startWithoutFilters(t, forge, 'alice'),
  ])
  const single = stranger.paths.flatMap(path => toAlices(path, things) ?? [])
  t.true(single.length >= 14, `${single}`)
  for (const path of single) {
    t.is((await stranger.get(path)).status, 404, path)
    t.is((await owner.get(path)).status, 200, path)
  }
  const lists = ['/api/jobs', '/api/runs', '/api/projects', '/api/rubrics']
  t.true(lists.every(path => stranger.paths.includes(path)))
  const sorted = lists.flatMap(path => (path === '/api/runs' ? [path, `${path}?${byLoss}`] : path))
  for (const path of sorted) {
    t.is((await stranger.get(path)).text, '[]', path)
    t.regex((await owner.get(path)).text, /alice/, path)
  }
})

const byLoss = new URLSearchParams({ sort: 'metric:loss:last' })

test('a rebuilt generation stands behind the wall as the one before it', async t => {
  const forge = await startForge(t)
  const things = await fill(forge)
  const policies = async () =>
    (
      await forge.pool.query(
        `select tablename, cmd, qual from pg_policies where schemaname = 'read' order by 1`,
      )
    ).rows
  const before = await policies()
  t.true(before.length > 15)
  await forge.call('POST', '/api/admin/projections/all/rebuild')
  await until('the rebuild is over', 30_000, async () => {
    const { body } = await forge.call<{ rebuild: { state: string } }>(
      'GET',
      '/api/admin/projections',
    )
    return body.rebuild.state === 'succeeded'
  })
  t.deepEqual(await policies(), before)
  const [stranger, owner] = await Promise.all([
    startWithoutFilters(t, forge, 'eve'),
    startWithoutFilters(t, forge, 'alice'),
  ])
  for (const path of stranger.paths.flatMap(path => toAlices(path, things) ?? [])) {
    t.is((await stranger.get(path)).status, 404, path)
    t.is((await owner.get(path)).status, 200, path)
  }
  // The service itself reads on through the wall, each person their own.
  const eve = await signedIn(forge, 'eve')
  t.is((await forge.call('GET', `/api/runs/${things.run_id}`, { token: eve })).status, 404)
  await createRun({ ...forge, call: (m, p, o) => forge.call(m, p, { ...o, token: eve }) }, 'eves')
  t.is((await forge.call<object[]>('GET', '/api/runs', { token: eve })).body.length, 1)
})
