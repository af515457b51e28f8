import test from 'ava'
import type { Route } from '../../auth/route.ts'
import { callOf } from '../whole/authorization/call-of.ts'
import type { Kind } from '../whole/authorization/rule.ts'
import type { Call } from '../whole/authorization/send.ts'
import { type Stage, stage } from '../whole/authorization/stage.ts'
import { asExecutor, endedWell } from './as-executor.ts'

/** Routes that leave no event, and why none is needed. */
const leavesNone: Record<string, string> = {
  'POST /api/auth/refresh': 'goes on with a session whose beginning is recorded',
  'POST /api/cli/device/code': 'nobody is known yet; the approval is recorded',
  'POST /api/jobs/preflight': 'changes nothing',
  'POST /api/ingest/metrics': 'a fact: on the log with its run and request',
  'POST /api/ingest/logs': 'a fact: on the log with its run and request',
}

/** Where the smallest body changes nothing: one that does. */
const bodies: Record<string, (set: Stage) => object | Promise<object>> = {
  'POST /api/auth/login': set => ({ username: operator, password: passwordOf(set) }),
  'POST /api/auth/password': set => ({
    current: passwordOf(set),
    new: 'another password of the operator',
  }),
  'POST /api/cli/device/token': async set => {
    const device = await newDevice(set)
    await set.send({
      ...post(`/api/cli/device/${device.user_code}/approve`),
      headers: set.credentials.operator,
    })
    return { device_code: device.device_code }
  },
  'POST /api/ingest/lifecycle': set => ({ run_id: runOf(set), event: 'running' }),
  'POST /api/ingest/hparams': set => ({ run_id: runOf(set), params: { lr: 1 } }),
  'PUT /api/rubrics/{owner}/{name}': set => ({
    name: set.belongings.operator.nouns.rubrics?.name,
    criteria: [{ name: 'short' }],
  }),
  'PATCH /api/projects/{name}': () => ({ notes: 'noted' }),
  'PUT /api/projects/{name}/members/{username}': () => ({ role: 'maintainer' }),
  'POST /api/admin/users': () => ({ username: 'newcomer', role: 'operator' }),
  'PATCH /api/admin/users/{username}': () => ({ display_name: 'The administrator' }),
  'PUT /api/admin/maintenance': () => ({ enabled: true, message: 'back soon' }),
  'PUT /api/admin/image-registries': () => ({ registries: ['registry.example'] }),
}

/** Where the thing of the stage cannot serve: another one in its path. */
const paths: Record<string, (set: Stage) => Promise<string>> = {
  'POST /api/cli/device/{user_code}/deny': async set =>
    `/api/cli/device/${(await newDevice(set)).user_code}/deny`,
  'POST /api/jobs/{run_id}/pause': async set => `/api/jobs/${await runningJob(set)}/pause`,
  'POST /api/jobs/{run_id}/resume': async set => {
    const run_id = await runningJob(set)
    await set.send({ ...post(`/api/jobs/${run_id}/pause`), headers: set.credentials.operator })
    await asExecutor(set.pool).exited(run_id, 1, endedWell())
    return `/api/jobs/${run_id}/resume`
  },
}

/** A job of the operator's whose first attempt runs. */
async function runningJob({ send, pool, belongings, credentials }: Stage): Promise<string> {
  const { project, lock } = belongings.operator.fields
  const body = {
    api: 'forge/v2',
    metadata: { name: 'runs', project },
    lock,
    spec: { resources: { profile: 'spare' } },
  }
  const submitted = await send({ ...post('/api/jobs'), body, headers: credentials.operator })
  const { run_id } = JSON.parse(submitted.text)
  const executor = asExecutor(pool)
  await executor.schedule(run_id, [])
  await executor.executorRunning(run_id, 1, new Date())
  return run_id
}

/** These come before and behind all others: what they end, the others need. */
const first = ['POST /api/ingest/']
const last = ['POST /api/auth/', 'PUT /api/admin/maintenance']

const operator = 'ada-operator'
const passwordOf = (set: Stage) => String(set.belongings.operator.fields.current)
const runOf = (set: Stage) => set.belongings.operator.fields.run_id
const post = (path: string) => ({ method: 'POST', path })

async function newDevice({ send }: Stage): Promise<{ device_code: string; user_code: string }> {
  const { text } = await send(post('/api/cli/device/code'))
  return JSON.parse(text)
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const rank = (route: Route): number => {
  const indexIn = (names: readonly string[]) =>
    names.findIndex(name => nameOf(route).startsWith(name))
  return indexIn(first) === -1 ? indexIn(last) : -2
}

test('every route that changes something leaves who did it, by which credential and request', async t => {
  t.timeout(120_000)
  const set = await stage(t)
  const changing = set.routes
    .filter(({ method }) => method !== 'GET')
    .sort((a, b) => rank(a) - rank(b))
  const names = changing.map(nameOf)
  const listed = [leavesNone, bodies, paths].flatMap(Object.keys)
  t.deepEqual(
    listed.filter(name => !names.includes(name)),
    [],
    'routes that are no more',
  )
  const faults: string[] = []
  for (const [index, route] of changing.entries())
    faults.push(...(await faultsOf(set, route, `audited-${index}`)))
  t.deepEqual(faults, [])
  t.true(changing.length > 25)
})

const kindOf: Record<Route['credential'], Kind> = {
  none: 'none',
  person: 'operator',
  admin: 'admin',
  ingest: 'ingest token',
  session: 'operator',
  refresh: 'refresh cookie',
  metrics: 'admin',
}

type Left = { type: string; actor: { type: string; id: string; via: string } }

async function faultsOf(set: Stage, route: Route, requestId: string): Promise<string[]> {
  const name = nameOf(route)
  const call = await changingCall(set, route)
  const { status, text } = await set.send({
    ...call,
    headers: { ...call.headers, 'x-request-id': requestId },
  })
  if (status !== 200) return [`${name} changes nothing, it answers ${status} ${text}`]
  const { rows } = await set.pool.query<Left>(
    `select type, meta -> 'actor' as actor from write.event
      where meta ->> 'request_id' = $1 order by position`,
    [requestId],
  )
  if (name in leavesNone) return rows.map(({ type }) => `${name} leaves ${type} all the same`)
  if (rows.length === 0) return [`${name} leaves no event`]
  return rows
    .filter(({ actor }) => !isRight(set, route, actor))
    .map(({ type, actor }) => `${name} leaves ${type} by ${JSON.stringify(actor)}`)
}

async function changingCall(set: Stage, route: Route): Promise<Call> {
  const name = nameOf(route)
  const kind = kindOf[route.credential]
  const endsSession = route.credential === 'session' || route.credential === 'refresh'
  const headers = endsSession ? await set.ownSession(kind) : set.credentials[kind]
  const call = callOf(route, set.belongings[kind === 'admin' ? 'admin' : 'operator'])
  const [body, path] = [await bodies[name]?.(set), await paths[name]?.(set)]
  return { ...call, headers, ...(body && { body }), ...(path !== undefined && { path }) }
}

function isRight({ belongings }: Stage, route: Route, actor: Left['actor']): boolean {
  if (route.credential === 'ingest')
    return isSame(actor, ['run', String(belongings.operator.fields.run_id), 'ingest_token'])
  const via = route.path === '/api/cli/device/token' ? 'device' : 'password'
  return isSame(actor, ['user', route.credential === 'admin' ? 'admin' : operator, via])
}

const isSame = ({ type, id, via }: Left['actor'], wanted: readonly string[]) =>
  [type, id, via].join() === wanted.join()
