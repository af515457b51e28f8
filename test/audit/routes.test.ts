import test from 'ava'
import type { Route } from '../../auth/route.ts'
import { samples } from '../samples/all.ts'
import { callOf } from '../samples/call-of.ts'
import type { Change, Kind, SampleServer } from '../samples/sample.ts'
import type { Call } from '../samples/send.ts'
import { sampleServer } from '../samples/server.ts'
import { patient } from '../servers/patience.ts'

const changes: Record<string, Change> = Object.assign({}, ...samples.map(sample => sample.changes))

/** Called before all others, whose calls would break their preconditions (`first`), or after all others. */
const first = ['POST /api/ingest/', 'POST /api/2.0/mlflow/']
const last = ['POST /api/admin/projections/', 'POST /api/auth/', 'PUT /api/admin/maintenance']

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const rank = (route: Route): number => {
  const indexIn = (names: readonly string[]) =>
    names.findIndex(name => nameOf(route).startsWith(name))
  return indexIn(first) === -1 ? indexIn(last) : -2
}

test('every mutating route records actor, credential and request', async t => {
  t.timeout(patient(400_000))
  const set = await sampleServer(t)
  const changing = set.routes
    .filter(({ method }) => method !== 'GET')
    .sort((a, b) => rank(a) - rank(b))
  const names = changing.map(nameOf)
  t.deepEqual(
    Object.keys(changes).filter(name => !names.includes(name)),
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

async function faultsOf(set: SampleServer, route: Route, requestId: string): Promise<string[]> {
  const name = nameOf(route)
  const call = await changingCall(set, route)
  const { status, text } = await set.send({
    ...call,
    headers: { ...call.headers, 'x-request-id': requestId },
  })
  if (status !== 200) return [`${name} changes nothing, it answers ${status} ${text}`]
  keepRecoveryCodes(set, text)
  // A duty caused by the request carries its id too, and runs at any time.
  const { rows } = await set.pool.query<Left>(
    `select type, meta -> 'actor' as actor from write.event
      where meta ->> 'request_id' = $1 and meta #>> '{actor,via}' <> 'duty' order by position`,
    [requestId],
  )
  if (changes[name]?.leavesNoEvent !== undefined)
    return rows.map(({ type }) => `${name} leaves ${type} all the same`)
  if (rows.length === 0) return [`${name} leaves no event`]
  return rows
    .filter(({ actor }) => !isRight(set, route, actor))
    .map(({ type, actor }) => `${name} leaves ${type} by ${JSON.stringify(actor)}`)
}

/** Keeps the new recovery codes of the operator, as the old ones no longer work. */
function keepRecoveryCodes({ people: { operator } }: SampleServer, text: string): void {
  const { recovery_codes = [] }: { recovery_codes?: string[] } = JSON.parse(text)
  if (recovery_codes.length > 0) operator.recovery.splice(0, Infinity, ...recovery_codes)
}

async function changingCall(set: SampleServer, route: Route): Promise<Call> {
  const name = nameOf(route)
  const kind = kindOf[route.credential]
  const endsSession = route.credential === 'session' || route.credential === 'refresh'
  const headers = endsSession ? await set.ownSession(kind) : set.credentials[kind]
  const call = callOf(route, set.fixtures[kind === 'admin' ? 'admin' : 'operator'])
  const change = changes[name]
  const [body, path] = [await change?.body?.(set), await change?.path?.(set)]
  return { ...call, headers, ...(body && { body }), ...(path !== undefined && { path }) }
}

function isRight({ fixtures, people }: SampleServer, route: Route, actor: Left['actor']): boolean {
  if (route.credential === 'ingest')
    return isSame(actor, ['run', String(fixtures.operator.fields.run_id), 'ingest_token'])
  const via = others.get(route.path) ?? 'password'
  return isSame(actor, [
    'user',
    people[route.credential === 'admin' ? 'admin' : 'operator'].username,
    via,
  ])
}

/** How somebody signs in there, if not with a password. */
const others = new Map([
  ['/api/cli/device/token', 'device'],
  ['/api/auth/passkeys/sign-in', 'passkey'],
])

const isSame = ({ type, id, via }: Left['actor'], wanted: readonly string[]) =>
  [type, id, via].join() === wanted.join()
