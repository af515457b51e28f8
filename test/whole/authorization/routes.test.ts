import test from 'ava'
import type { Route } from '../../../auth/route.ts'
import { samples } from '../../samples/all.ts'
import { callOf } from '../../samples/call-of.ts'
import { type Fixture, type Kind, kinds, type SampleServer } from '../../samples/sample.ts'
import type { Answer } from '../../samples/send.ts'
import { sampleServer } from '../../samples/server.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import {
  faultsOfFound,
  hasRule,
  isSelected,
  namesRun,
  namesSomething,
  type Outcome,
  outcomeOf,
  type Thing,
  things,
  type Worth,
  worthOf,
} from './rule.ts'

/** One call of a route: the request, the status, and the faults of the response. */
type Case = { title: string; status: number; faults: string[] }

const atOnce = 8

test('every route responds to every credential and resource as declared', async t => {
  t.timeout(patient(400_000))
  const began = performance.now()
  const set = await sampleServer(t)
  const routes = set.routes.filter(isSelected)
  t.deepEqual(routes.filter(route => !hasRule(route)).map(nameOf), [], 'routes without a rule')
  const cases: Case[] = []
  const tested = new Set<string>()
  const work = async (waiting: Route[]) => {
    for (let route = waiting.pop(); route; route = waiting.pop()) {
      cases.push(...(await casesOf(set, route)))
      tested.add(nameOf(route))
    }
  }
  const others = routes.filter(({ method }) => method !== 'DELETE')
  const [last, first] = [true, false].map(is => others.filter(route => comesLast(route) === is))
  await Promise.all(Array.from({ length: atOnce }, () => work(first ?? [])))
  await work(last ?? [])
  // An administrator may delete others' things; their contents are deleted first.
  await work(
    routes
      .filter(({ method }) => method === 'DELETE')
      .sort((a, b) => a.path.length - b.path.length),
  )
  const faults = cases.flatMap(({ title, faults: found }) =>
    found.map(fault => `${title}: ${fault}`),
  )
  t.deepEqual(faults, [])
  t.is(tested.size, routes.length)
  const [taken, refused] = [2, 4].map(
    class_ => cases.filter(({ status }) => Math.floor(status / 100) === class_).length,
  )
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  t.log(
    `${routes.length} routes, ${cases.length} cases: ${taken} taken, ${refused} refused; ${seconds} s`,
  )
})

const nameOf = ({ method, path }: Route) => `${method} ${path}`

async function casesOf(set: SampleServer, route: Route): Promise<Case[]> {
  // 503 depends on the server (e.g. while read models are rebuilt), never on the caller.
  const isAnswer = ({ status }: Case) => status !== 503
  const shown = await until(`${nameOf(route)} is served`, 20_000, async () => {
    const isIn = (kind: Kind) => worthOf(route, kind) === 'in'
    // These change nothing, so they need not wait for each other.
    const refused = kinds.filter(kind => !isIn(kind)).map(kind => byKind(set, route, kind))
    const cases = await Promise.all(refused)
    for (const kind of kinds.filter(isIn)) {
      // Otherwise wrong passwords of the same name are held, longer each time.
      if (route.rateLimit) await set.pool.query('delete from auth.sign_in_delay')
      cases.push(await byKind(set, route, kind))
    }
    return cases.some(isAnswer) ? cases : null
  })
  const statuses = new Set(shown.filter(isAnswer).map(({ status }) => status))
  if (route.credential === 'none' && statuses.size > 1)
    shown[0]?.faults.push(
      `responses depend on the credential: ${shown.map(({ status }) => status)}`,
    )
  return [...shown, ...(await byThing(set, route))]
}

async function byKind(set: SampleServer, route: Route, kind: Kind): Promise<Case> {
  const worth = worthOf(route, kind)
  const endsSession = route.credential === 'session' || route.credential === 'refresh'
  const headers = endsSession && worth === 'in' ? await set.ownSession(kind) : set.credentials[kind]
  const has = set.fixtures[kind === 'admin' ? 'admin' : 'operator']
  const own = worth === 'in' ? { ...(await ownPath(set, route)), ...proof(set, route, kind) } : {}
  const answer = await set.send({ ...callOf(route, has), ...own, headers })
  const faults: string[] = []
  if (worth !== 'in') faults.push(...refusalFaults(answer, statusOf[worth]))
  else if (route.credential !== 'none') faults.push(...faultsOfFound(route, answer))
  if (!mayKnow(route, kind, worth)) faults.push(...leaks(answer, set.fixtures.another))
  if (answer.status === 401 && !answer.headers.has('www-authenticate'))
    faults.push('no WWW-Authenticate')
  return { title: `${nameOf(route)} with ${kind}`, status: answer.status, faults }
}

const statusOf = { unauthenticated: 401, forbidden: 403, hidden: 404 }

/** Whether the caller may learn about the other person's things. */
const mayKnow = ({ path }: Route, kind: Kind, worth: Worth) =>
  showsNames.has(path) ||
  kind === 'admin' ||
  (kind === 'ingest token of another run' && worth === 'in')

/** People of the samples have a second factor, which a confirmation demands. */
function proof({ people }: SampleServer, route: Route, kind: Kind): { body?: object } {
  if (nameOf(route) !== 'POST /api/auth/confirm') return {}
  const { password, recovery } = people[kind === 'admin' ? 'admin' : 'operator']
  return { body: { password, code: recovery.shift() } }
}

/** A separate thing for a route that only administrators call or that deletes: others need the sample's. */
async function ownPath(set: SampleServer, route: Route): Promise<{ path?: string }> {
  if (route.credential !== 'admin' && route.method !== 'DELETE') return {}
  const path = await changes.get(nameOf(route))?.path?.(set)
  return path === undefined ? {} : { path }
}

const comesLast = (route: Route): boolean => changes.get(nameOf(route))?.comesLast === true

const changes = new Map(samples.flatMap(sample => Object.entries(sample.changes ?? {})))

const showsNames = new Set(
  samples
    .flatMap(({ lists = {} }) => Object.entries(lists))
    .flatMap(([path, of]) => (of === 'everybody, with names' ? [path] : [])),
)

const hidden = samples.flatMap(sample => sample.hidden ?? [])

/** Things that only their people may know, in a response to somebody else. */
const leaks = ({ text }: Answer, { nouns }: Fixture): string[] =>
  hidden
    .flatMap(noun => Object.values(nouns[noun] ?? {}))
    .filter(name => holds(text, name))
    .map(name => `reveals ${name}`)

/** A number must stand alone: the decimals of measured times may contain any other digits. */
const holds = (text: string, name: string): boolean =>
  /^\d+$/.test(name) ? new RegExp(`(?<![\\d.])${name}(?!\\d)`).test(text) : text.includes(name)

/** The view that people have of others' or missing things; and administrators of others' things. */
async function byThing(set: SampleServer, route: Route): Promise<Case[]> {
  const { as, outcomes } = thingRule(route)
  const answers: Partial<Record<Thing, Answer>> = {}
  for (const [thing, outcome] of outcomes) {
    const headers = set.credentials[thing === "another's, as admin" ? 'admin' : as]
    const call = callOf(route, named(set, thing, outcome))
    answers[thing] = await set.send({ ...call, headers })
  }
  const missing = answers.missing && withoutNames(answers.missing, set.fixtures.missing)
  return outcomes.map(([thing, outcome]) => {
    const answer = answers[thing] as Answer
    const faults = outcomeFaults(route, outcome, answer)
    const plain = withoutNames(answer, named(set, thing, outcome))
    const hides = outcome === 'missing' || route.credential === 'ingest'
    if (hides && plain !== missing) faults.push(`differs from a missing thing: ${plain}`)
    return { title: `${nameOf(route)}, ${thing}`, status: answer.status, faults }
  })
}

function named({ fixtures }: SampleServer, thing: Thing, outcome: Outcome): Fixture {
  if (outcome === 'free') return fixtures.free
  return thing === 'missing' ? fixtures.missing : fixtures.another
}

type ThingRule = { as: Kind; outcomes: readonly [Thing, Outcome][] }

/** Who may see which things by a route's declaration; a caller's own things are covered by `byKind`. */
function thingRule(route: Route): ThingRule {
  const { credential, reach = 'all' } = route
  const others = things.filter(thing => thing !== 'own')
  const outcomes = (of: readonly Thing[]) =>
    of.map((thing): [Thing, Outcome] => [thing, outcomeOf(reach, thing)])
  if (credential === 'ingest' && route.reach !== undefined)
    return { as: 'ingest token', outcomes: outcomes(["another's", 'missing']) }
  if (credential === 'ingest')
    return {
      as: 'ingest token',
      outcomes: namesRun(route)
        ? [
            ["another's", 'forbidden'],
            ['missing', 'forbidden'],
          ]
        : [],
    }
  if (!namesSomething(route)) return { as: 'operator', outcomes: [] }
  if (credential === 'admin') return { as: 'admin', outcomes: [['missing', 'none such']] }
  if (credential !== 'person') return { as: 'none', outcomes: [] }
  return { as: 'operator', outcomes: outcomes(others) }
}

function outcomeFaults(route: Route, outcome: Outcome, answer: Answer): string[] {
  if (outcome === 'forbidden') return refusalFaults(answer, 403)
  if (outcome === 'missing') return refusalFaults(answer, 404)
  if (outcome === 'none such' && route.refusals?.includes('not_found'))
    return refusalFaults(answer, 404)
  return faultsOfFound(route, answer)
}

const refusalFaults = ({ status, text }: Answer, wanted: number) =>
  status === wanted ? [] : [`${status} instead of ${wanted}: ${text.slice(0, 300)}`]

/** A response without the parts that may differ: the request's id and the requested names. */
function withoutNames({ status, headers, text }: Answer, { nouns, fields }: Fixture): string {
  const names = [...Object.values(nouns).flatMap(Object.values), ...Object.values(fields)]
  const own = names.filter(name => typeof name === 'string').sort((a, b) => b.length - a.length)
  const kept = [...headers].filter(([name]) => !changing.has(name)).flat()
  const whole = [status, ...kept, text.replace(/"request_id":"[^"]*"/, '')].join('\n')
  return own.reduce((left, name) => left.replaceAll(name, '…'), whole)
}

const changing = new Set(['date', 'x-request-id', 'content-length', 'forge-lag'])
