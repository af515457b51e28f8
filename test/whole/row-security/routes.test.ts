import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import type { Route } from '../../../auth/route.ts'
import { createQueueBook } from '../../../command-api/jobs/queue-book.ts'
import { listen } from '../../../platform/http/server.ts'
import { httpShell } from '../../../platform/http/shell.ts'
import { addressKeyOf } from '../../../platform/http/signed-address.ts'
import { DirectoryStore } from '../../../platform/objects/directory.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { prepareReaderRole } from '../../../platform/postgres/reader-role.ts'
import { inProcessSignals } from '../../../platform/signals.ts'
import { telemetry } from '../../../platform/telemetry.ts'
import { systemClock } from '../../../platform/time.ts'
import { auditReader } from '../../../query-api/audit/reader.ts'
import { queryRoutes, type ReadTables } from '../../../query-api/compose.ts'
import { createReads, type Reads } from '../../../query-api/reading/reads.ts'
import { projectionProgress } from '../../../query-api/sse/progress.ts'
import { createStreams } from '../../../query-api/sse/sse.ts'
import type { WakeUps } from '../../../schemas/wake-ups.ts'
import { uploadsIn } from '../../../server/data-directory.ts'
import { samples } from '../../samples/all.ts'
import { callOf } from '../../samples/call-of.ts'
import type { Sample, SampleServer } from '../../samples/sample.ts'
import { asked, bearer, type Call } from '../../samples/send.ts'
import { sampleServer } from '../../samples/server.ts'
import { until } from '../../servers/until.ts'
import { isSelected, namesSomething, outcomeOf, slice } from '../authorization/rule.ts'
import { person, tables } from './rows.ts'

/** A server whose samples have all arrived in the read models. */
async function filledServer(t: ExecutionContext): Promise<SampleServer> {
  const server = await sampleServer(t)
  const filled = Object.entries(tables).flatMap(([name, { isFilled }]) => (isFilled ? name : []))
  t.true(filled.length >= 9)
  for (const name of filled)
    await until(`each of the three people has a row in ${name}`, 20_000, async () => {
      const { rows } = await server.pool.query(
        `select count(*) >= 3 as is_filled from read.${name}`,
      )
      return rows[0]?.is_filled
    })
  return server
}

/**
 * The queries of the service without their filters: they assume that an administrator is calling. Only row-level security
 * remains, which applies to that person.
 */
async function startWithoutFilters(
  t: ExecutionContext,
  { pool: auth, dataDir }: SampleServer,
  who: string,
) {
  const url = String(auth.options.connectionString)
  const { role } = await prepareReaderRole(url, 'read')
  const pool = createPool(url, { max: 6, searchPath: 'read', applicationName: 'forge test' })
  t.teardown(() => pool.end())
  const real = createReads<ReadTables>({ pool, role })
  const reads: Reads<ReadTables> = {
    ...real,
    as: (_, runIds) => real.as(person(who), runIds),
  }
  const authenticate = async () => person('root', 'admin')
  const logger = pino({ level: 'silent' })
  const signals = inProcessSignals<WakeUps>()
  const progress = () => projectionProgress(pool)
  const streams = createStreams({ signals, logger, authenticate, progress })
  const routes = queryRoutes({
    reads,
    pool: auth,
    queue: createQueueBook({ pool: auth, now: systemClock, failed: error => t.log(error) }),
    openStream: streams.open,
    now: systemClock,
    catalogue: { all: async () => [] },
    audit: auditReader(auth),
    signIn: {
      accessTokenHours: 1,
      sessionIdleHours: 0,
      baseUrl: () => '',
      providerName: null,
      secondFactor: 'optional',
    },
    contents: {
      store: new DirectoryStore(uploadsIn({ dataDir })),
      key: addressKeyOf(Buffer.alloc(32), 'downloads'),
      baseUrl: () => '',
    },
    volumes: { local: join(dataDir, 'volumes'), slurm: null },
    assets: null,
    captureDays: 7,
    hubEndpoint: null,
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
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  t.teardown(async () => {
    await streams.close()
    await server.close()
  })
  /** For a stream, only whether it opens. */
  const get = async (path: string) => {
    const abort = new AbortController()
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { signal: abort.signal })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const text = isStream ? '' : await response.text()
    abort.abort()
    return { status: response.status, text }
  }
  return { get, routes: routes.filter(isPersonal) }
}

const isPersonal = ({ method, credential }: Pick<Route, 'method' | 'credential'>) =>
  method === 'GET' && credential === 'person'

/**
 * Reads of the owner's things that do not exist for a stranger. Personal data (`self`) is in no read model:
 * its rows are asked for by that name, and everybody here is called `root`.
 */
const hiddenReads = (routes: readonly Route[], { fixtures }: SampleServer): string[] =>
  routes
    .filter(
      ({ reach }) =>
        reach !== undefined && reach !== 'self' && outcomeOf(reach, "another's") === 'missing',
    )
    .filter(isSelected)
    .map(route => callOf(route, fixtures.another).path)

/** The rows of a list; in some responses next to data about all of them, or after the names of the columns. */
function rowsOf({ text }: { text: string }): string {
  if (!/^[[{]/.test(text)) return JSON.stringify(text.trim().split('\n').slice(1))
  const body = JSON.parse(text)
  return JSON.stringify(
    Array.isArray(body) ? body : (body.jobs ?? body.experiments ?? body.results),
  )
}

test('with every filter of the queries off, no route shows a stranger anything', async t => {
  const server = await filledServer(t)
  const owner = server.people.another.username
  const [asStranger, asOwner] = await Promise.all([
    startWithoutFilters(t, server, 'eve'),
    startWithoutFilters(t, server, owner),
  ])
  const single = hiddenReads(asStranger.routes, server)
  t.true(slice !== undefined || single.length >= 17, `${single}`)
  for (const path of single) {
    t.is((await asStranger.get(path)).status, 404, path)
    t.is((await asOwner.get(path)).status, 200, path)
  }
  const lists: NonNullable<Sample['lists']> = Object.assign(
    {},
    ...samples.map(sample => sample.lists),
  )
  const unnamed = server.routes.filter(route => isPersonal(route) && !namesSomething(route))
  t.deepEqual(
    unnamed.map(({ path }) => path).sort(),
    Object.keys(lists).sort(),
    'each list is under `lists` in test/samples/<slice>.ts: see test/README.md',
  )
  const ofPeople = Object.entries(lists).flatMap(([path, whose]) =>
    whose === 'its people' ? path : [],
  )
  t.true(ofPeople.length >= 4)
  const all = [...ofPeople, ...samples.flatMap(({ moreLists }) => moreLists ?? [])]
  for (const path of all.filter(path => isSelected({ path }))) {
    t.is(rowsOf(await asStranger.get(path)), '[]', path)
    // A failure appears in lists once it is diagnosed.
    await until(`${path} shows its people what they own`, 20_000, async () =>
      (await asOwner.get(path)).text.includes(owner),
    )
  }
})

test('row-level security protects a rebuilt generation as well', async t => {
  const server = await filledServer(t)
  const asAdmin = <T>(method: string, path: string) =>
    asked<T>(server.send, server.people.admin, { method, path })
  const policies = async () =>
    (
      await server.pool.query(
        `select tablename, policyname, roles, cmd, qual from pg_policies where schemaname = 'read' order by 1, 2`,
      )
    ).rows
  const before = await policies()
  t.true(before.length > 15)
  await asAdmin('POST', '/api/admin/projections/all/rebuild')
  await until('the rebuild is over', 30_000, async () => {
    const { rebuild } = await asAdmin<{ rebuild: { state: string } }>(
      'GET',
      '/api/admin/projections',
    )
    return rebuild.state === 'succeeded'
  })
  t.deepEqual(await policies(), before)
  const [stranger, owner] = await Promise.all([
    startWithoutFilters(t, server, 'eve'),
    startWithoutFilters(t, server, server.people.another.username),
  ])
  for (const path of hiddenReads(stranger.routes, server)) {
    t.is((await stranger.get(path)).status, 404, path)
    t.is((await owner.get(path)).status, 200, path)
  }
  // The service itself still works under row-level security, for each person with their own rows.
  const eve = await server.newPerson('eve')
  const as = (call: Call) => server.send({ ...call, headers: bearer(eve.token) })
  const path = `/api/runs/${server.fixtures.another.nouns.runs?.run_id}`
  t.is((await as({ method: 'GET', path })).status, 404)
  await as({ method: 'POST', path: '/api/runs', body: { project: 'eves' } })
  t.is(JSON.parse((await as({ method: 'GET', path: '/api/runs' })).text).length, 1)
})
