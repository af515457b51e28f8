import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { askApi, signIn } from '../test/servers/api.ts'
import { until } from '../test/servers/until.ts'
import {
  countMlflow,
  countTrackio,
  type PeerServer,
  peersPython,
  startMlflow,
  startTrackio,
} from './clients/peers.ts'
import { type Load, type Measured, measureClient } from './clients/workers.ts'
import { createRuns } from './rig/api.ts'
import { type Server, startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

const usage = `npm run bench:clients -- [options]
Four processes log the same keys into one run: with Forge's Python client, with Trackio's (into a file of its own and to a
server of its own) and with MLflow's, in turn. Points a second until the calls have returned, and until all are stored.
Then Forge's logs while its server is away: "stored" are points a second that its spool sends once the server is back.
  --rounds N     of each client (3)
  --steps N      of each process; MLflow's log a fiftieth of them (20000)
  --only NAME    forge, trackio or mlflow
  --json FILE    also write all figures there`

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    steps: { type: 'string', default: '20000' },
    only: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.error(usage)
  process.exit(0)
}

const run = promisify(execFile)
const storedWithinMs = 120_000
const steps = Number(options.steps)
const load: Load = { processes: 4, steps, keys: 10 }
/** One of MLflow's calls takes about as long as fifty of the others'. */
const mlflowLoad: Load = { ...load, steps: Math.ceil(steps / 50) }
const pythonClient = join(import.meta.dirname, '../clients/python/src')

type Contestant = { name: string; measure(round: number): Promise<Measured> }

/** A new run, and the environment of code that reports to it. */
async function newRun({ url }: Server, token: string, name: string) {
  const [run] = await createRuns(url, token, name, 1)
  if (!run) throw new Error('no run to log into')
  const env = {
    PYTHONPATH: pythonClient,
    SERVICE_ENABLED: '1',
    SERVICE_ENDPOINT: `${url}/api/ingest`,
    SERVICE_RUN_ID: run.run_id,
    SERVICE_TOKEN: run.token,
  }
  return { run_id: run.run_id, env }
}

function forgeIn(server: Server, token: string): Contestant {
  return {
    name: 'Forge',
    async measure(round) {
      const { run_id, env } = await newRun(server, token, `clients-${round}`)
      return measureClient({ kind: 'forge', python: 'python3', env }, load, points =>
        untilCounted('Forge', points, () => countForge(server, token, run_id)),
      )
    },
  }
}

async function countForge({ url }: Server, token: string, run_id: string): Promise<number> {
  const path = `/api/runs/${run_id}/metrics/keys`
  const keys = await askApi<{ count: number }[]>(url, 'GET', path, { token })
  return keys.reduce((sum, { count }) => sum + count, 0)
}

/** They log and end while the server is away; then `python -m forge sync` runs. */
function forgeAlone(server: Server, token: string, folder: string): Contestant {
  return {
    name: 'Forge, server away',
    async measure(round) {
      const created = await newRun(server, token, `away-${round}`)
      const { run_id } = created
      const env = {
        ...created.env,
        FORGE_SPOOL_DIR: join(folder, `spool-${round}`),
        FORGE_SPOOL_MB: '1000',
        BENCH_FINISH_S: '2',
      }
      await server.stop()
      const forge = { kind: 'forge', python: 'python3', env } as const
      const logged = await measureClient(forge, load, async () => {})
      await server.start()
      const began = performance.now()
      await run('python3', ['-m', 'forge', 'sync', run_id], {
        env: { ...process.env, ...env },
      })
      const seconds = (performance.now() - began) / 1000
      await untilCounted('Forge', logged.points, () => countForge(server, token, run_id))
      return { ...logged, stored: logged.points / seconds }
    },
  }
}

function trackioIn(python: string, folder: string, server: PeerServer | null): Contestant {
  return {
    name: server ? 'Trackio, its server' : 'Trackio, its file',
    measure(round) {
      const name = `round-${round}`
      const env: Record<string, string> = { BENCH_RUN: name, HF_HUB_OFFLINE: '1' }
      env.TRACKIO_DIR = server ? join(folder, 'unused') : folder
      if (server) env.BENCH_ADDRESS = server.address
      return measureClient({ kind: 'trackio', python, env }, load, points =>
        untilCounted('Trackio', points, () => countTrackio(python, folder, name)),
      )
    },
  }
}

function mlflowIn(python: string, folder: string, { address }: PeerServer): Contestant {
  return {
    name: 'MLflow, its server',
    async measure() {
      const response = await fetch(`${address}/api/2.0/mlflow/runs/create`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ experiment_id: '0', start_time: Date.now() }),
      })
      const { run } = (await response.json()) as { run: { info: { run_id: string } } }
      const env = { BENCH_ADDRESS: address, BENCH_RUN: run.info.run_id }
      return measureClient({ kind: 'mlflow', python, env }, mlflowLoad, points =>
        untilCounted('MLflow', points, () => countMlflow(python, folder, run.info.run_id)),
      )
    },
  }
}

/** A client that loses points gets no figures. */
async function untilCounted(name: string, points: number, count: () => Promise<number>) {
  const isStored = async () => (await count()) === points
  await until(`${name} has stored ${points} points`, storedWithinMs, isStored)
}

const folder = await mkdtemp(join(tmpdir(), 'forge-clients-'))
const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  const contestants: Contestant[] = []
  const isAsked = (name: string) => options.only === undefined || options.only === name
  if (isAsked('forge')) {
    const server = await startServer()
    stops.unshift(() => server.stop().then(() => server.remove()))
    const token = await signIn(server.url)
    contestants.push(forgeIn(server, token), forgeAlone(server, token, folder))
  }
  if (isAsked('trackio') || isAsked('mlflow')) contestants.push(...(await peers(isAsked)))
  const rows: (Measured & { client: string; round: number })[] = []
  for (let round = 1; round <= Number(options.rounds); round++)
    for (const { name, measure } of contestants)
      rows.push({ client: name, round, ...(await measure(round)) })
  console.log(
    toTable(rows, [
      ['client', ({ client }) => client],
      ['round', ({ round }) => number(round)],
      ['points', ({ points }) => number(points)],
      ['returned/s', ({ returned }) => number(returned)],
      ['stored/s', ({ stored }) => number(stored)],
      ['call p99 µs', ({ callUs }) => number(callUs, 1)],
      ['MB more', ({ grownMb }) => number(grownMb)],
    ]),
  )
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, load: loadavg() }
  if (options.json)
    await writeFile(
      options.json,
      `${JSON.stringify({ at: new Date().toISOString(), machine, rows }, null, 2)}\n`,
    )
} finally {
  for (const stop of stops) await stop()
}

async function peers(isAsked: (name: string) => boolean): Promise<Contestant[]> {
  const python = await peersPython()
  const found: Contestant[] = []
  if (isAsked('trackio')) {
    const [local, remote] = [join(folder, 'trackio'), join(folder, 'trackio-server')]
    for (const one of [local, remote]) await mkdir(one)
    const server = await startTrackio(python, remote)
    stops.unshift(server.stop)
    found.push(trackioIn(python, local, null), trackioIn(python, remote, server))
  }
  if (isAsked('mlflow')) {
    const server = await startMlflow(python, folder)
    stops.unshift(server.stop)
    found.push(mlflowIn(python, folder, server))
  }
  return found
}
