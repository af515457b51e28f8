import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { adminPassword, askApi, signIn } from '../test/servers/api.ts'
import { until } from '../test/servers/until.ts'
import { runLoad } from './load/start.ts'
import { createRuns, type ExternalRun } from './rig/api.ts'
import { spreadOf } from './rig/quantile.ts'
import { type Server, startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

/** Rebuilds the read models again and again while points arrive, runs are created and people read. */

const pointsPerRequest = 16
const project = 'rebuilt'
const reader = 'reader'
const segmentSeconds = 20
/** No read may take this long, even during a rebuild, in milliseconds. */
const goalMs = 500

const { values: options } = parseArgs({
  options: {
    rebuilds: { type: 'string', default: '50' },
    /** A new server starts after this many rebuilds, because each one reads everything that came before it. */
    each: { type: 'string', default: '10' },
    /** Points a second, in requests of 16. */
    points: { type: 'string', default: '30000' },
    /** Decisions a second. */
    decisions: { type: 'string', default: '20' },
    readers: { type: 'string', default: '4' },
    runs: { type: 'string', default: '32' },
    connections: { type: 'string', default: '16' },
    /** Seconds before each rebuild in which the same load runs without one. */
    without: { type: 'string', default: '7' },
  },
})
const plan = {
  rebuilds: Number(options.rebuilds),
  each: Number(options.each),
  points: Number(options.points),
  decisions: Number(options.decisions),
  readers: Number(options.readers),
  runs: Number(options.runs),
  connections: Number(options.connections),
  without: Number(options.without),
}

type Rebuilt = { seconds: number; state: string; error: string | null; records: number }
type Read = { path: string; ms: number; status: number; during: boolean }
const noRead: Read = { path: 'none', ms: 0, status: 0, during: false }
const slowestOf = (reads: readonly Read[]) => reads.reduce((a, b) => (b.ms > a.ms ? b : a), noRead)
type Driven = { points: number; decisions: number; seconds: number; failures: Map<string, number> }

const say = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`)

type Load = { stop(): Promise<void> }

/** Keeps sending points and creating runs, in separate processes, until stopped. */
function startLoad(url: string, admin: string, runs: readonly ExternalRun[], driven: Driven): Load {
  const { hostname: host, port } = new URL(url)
  const common = { host, port: Number(port), seconds: segmentSeconds, resent: 0 }
  const create = { method: 'POST', path: '/api/runs', token: admin, body: { project } }
  let stopped = false
  const drive = async () => {
    while (!stopped) {
      const [points, decisions] = await Promise.all([
        runLoad({
          ...common,
          connections: plan.connections,
          rate: plan.points / pointsPerRequest,
          work: { runs, points: pointsPerRequest },
        }),
        runLoad({ ...common, connections: 2, rate: plan.decisions, work: { calls: [create] } }),
      ])
      driven.points += points.accepted * pointsPerRequest
      driven.decisions += decisions.accepted
      driven.seconds += points.seconds
      for (const [status, times] of [points, decisions].flatMap(one =>
        Object.entries(one.statuses),
      ))
        if (status !== '200')
          driven.failures.set(status, (driven.failures.get(status) ?? 0) + times)
    }
  }
  const driving = drive()
  return {
    async stop() {
      stopped = true
      await driving
    },
  }
}

async function get(url: string, token: string): Promise<{ status: number; refusal: string }> {
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    return { status: response.status, refusal: response.ok ? '' : text.slice(0, 200) }
  } catch (error) {
    return { status: 0, refusal: String(error) }
  }
}

/** Reads one page after another, as a person who does not write. */
function startReader(
  url: string,
  token: string,
  runs: readonly ExternalRun[],
  { reads, isRebuilding }: { reads: Read[]; isRebuilding: () => boolean },
): Load {
  let stopped = false
  const pathsOf = ({ run_id }: ExternalRun) => [
    '/api/runs?limit=50',
    `/api/runs/${run_id}`,
    `/api/runs/${run_id}/metrics?keys=train/metric_00,train/metric_01&buckets=500`,
    `/api/runs/${run_id}/metrics/keys`,
    `/api/runs?project=${project}&sort=-metric:train/metric_00:last&limit=20`,
  ]
  const paths = runs.flatMap(pathsOf)
  const read = async () => {
    for (let turn = 0; !stopped; turn++) {
      const path = paths[turn % paths.length] ?? ''
      const began = performance.now()
      const before = isRebuilding()
      const { status, refusal } = await get(`${url}${path}`, token)
      if (status !== 200) say(`${path}: ${status} ${refusal}`)
      const during = before || isRebuilding()
      const ms = performance.now() - began
      reads.push({ path: path.replace(/run_\w+/, '{id}'), ms, status, during })
    }
  }
  const reading = read()
  return {
    async stop() {
      stopped = true
      await reading
    },
  }
}

type Status = { rebuild: { state: string; error: string | null; total_records: number } }

async function rebuildOnce(url: string, token: string): Promise<Rebuilt> {
  const began = performance.now()
  await askApi(url, 'POST', '/api/admin/projections/all/rebuild', { token })
  const { state, error, total_records } = await until(
    'the rebuild is over',
    600_000,
    async () => {
      const { rebuild } = await askApi<Status>(url, 'GET', '/api/admin/projections', { token })
      return rebuild.state !== 'running' && rebuild
    },
    200,
  )
  return { seconds: (performance.now() - began) / 1000, state, error, records: total_records }
}

async function measure({ url }: Server, rebuilds: number) {
  const admin = await signIn(url)
  const runs = await createRuns(url, admin, project, plan.runs)
  await askApi(url, 'PATCH', `/api/projects/${project}`, {
    token: admin,
    body: { visibility: 'internal' },
  })
  const body = { username: reader, password: adminPassword, role: 'operator' }
  await askApi(url, 'POST', '/api/admin/users', { token: admin, body })
  const person = await signIn(url, reader)
  const driven: Driven = { points: 0, decisions: 0, seconds: 0, failures: new Map() }
  const reads: Read[] = []
  const rebuilt: Rebuilt[] = []
  const slowest = { during: [] as number[], without: [] as number[] }
  let rebuilding = false
  const noting = { reads, isRebuilding: () => rebuilding }
  const loads = [
    startLoad(url, admin, runs, driven),
    ...Array.from({ length: plan.readers }, (_, nth) =>
      startReader(url, person, [...runs.slice(nth), ...runs.slice(0, nth)], noting),
    ),
  ]
  for (let nth = 1; nth <= rebuilds; nth++) {
    let from = reads.length
    await pause(plan.without * 1000)
    slowest.without.push(slowestOf(reads.slice(from)).ms)
    from = reads.length
    rebuilding = true
    const one = await rebuildOnce(url, admin)
    rebuilding = false
    rebuilt.push(one)
    const { ms, path } = slowestOf(reads.slice(from))
    slowest.during.push(ms)
    say(
      `rebuild ${nth}: ${one.state} after ${number(one.seconds, 1)} s, ${number(one.records)} records, slowest read ${number(ms)} ms (${path}) ${one.error ?? ''}`,
    )
  }
  await Promise.all(loads.map(load => load.stop()))
  return { driven, reads, rebuilt, slowest }
}

type Figures = Awaited<ReturnType<typeof measure>> & { heldMs: number[] }

async function measureOnServer(rebuilds: number): Promise<Figures> {
  const server = await startServer({ env: { SERVICE_LOG_LEVEL: 'info' } })
  try {
    const figures = await measure(server, rebuilds)
    const flips = server.output().match(/"heldMs":\d+|heldMs: \d+/g) ?? []
    return { ...figures, heldMs: flips.map(text => Number(/\d+/.exec(text)?.[0])) }
  } finally {
    await server.stop()
    await server.remove()
  }
}

function print(all: readonly Figures[]): boolean {
  const reads = all.flatMap(one => one.reads)
  const rebuilt = all.flatMap(one => one.rebuilt)
  const rows = [...Map.groupBy(reads, ({ path }) => path)].map(([path, some]) => {
    const took = (during: boolean) =>
      spreadOf(some.filter(read => read.during === during).map(({ ms }) => ms))
    return { path, with: took(true), without: took(false) }
  })
  console.log(
    toTable(rows, [
      ['read', row => row.path.slice(0, 60)],
      ['reads', row => number(row.with.count)],
      ['p50 ms', row => number(row.with.p50)],
      ['p99 ms', row => number(row.with.p99)],
      ['slowest ms', row => number(row.with.max)],
      ['without a rebuild p50 ms', row => number(row.without.p50)],
      ['p99 ms', row => number(row.without.p99)],
      ['slowest ms', row => number(row.without.max)],
    ]),
  )
  for (const [what, times] of [
    ['a rebuild', all.flatMap(one => one.slowest.during)],
    [`${plan.without} s without one`, all.flatMap(one => one.slowest.without)],
  ] as const) {
    const { p50, max } = spreadOf(times)
    const over = times.filter(ms => ms >= goalMs).length
    console.log(
      `slowest read of ${what}: p50 ${number(p50)} ms, at most ${number(max)} ms; ${over} of ${times.length} took ${goalMs} ms or more`,
    )
  }
  const failed = rebuilt.filter(({ state }) => state !== 'succeeded')
  const seconds = spreadOf(rebuilt.map(one => one.seconds))
  const refused = reads.filter(({ status }) => status !== 200)
  const held = spreadOf(all.flatMap(one => one.heldMs))
  const sum = (of: (driven: Driven) => number) =>
    all.reduce((total, { driven }) => total + of(driven), 0)
  const loaded = sum(({ seconds }) => seconds)
  console.log(
    `${rebuilt.length - failed.length} of ${rebuilt.length} rebuilds succeeded, in p50 ${number(seconds.p50, 1)} s and at most ${number(seconds.max, 1)} s`,
  )
  console.log(
    `the projections stood still for p50 ${number(held.p50)} ms, at most ${number(held.max)} ms`,
  )
  console.log(
    `driven: ${number(sum(({ points }) => points) / loaded)} points/s, ${number(sum(({ decisions }) => decisions) / loaded, 1)} decisions/s; failures ${JSON.stringify(all.flatMap(({ driven }) => [...driven.failures]))}; reads not 200: ${refused.length}`,
  )
  return failed.length === 0
}

const all: Figures[] = []
for (let left = plan.rebuilds; left > 0; left -= plan.each)
  all.push(await measureOnServer(Math.min(left, plan.each)))
process.exitCode = print(all) ? 0 : 1
