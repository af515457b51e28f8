import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { type Bench, type Cell, measureCell } from './ingest/cell.ts'
import { startProbe } from './ingest/probe.ts'
import { measureStorage, type Storage } from './ingest/storage.ts'
import { createRuns } from './rig/api.ts'
import { connect, findPostmaster } from './rig/database.ts'
import { type KafkaBroker, startKafka } from './rig/kafka.ts'
import { type MachineLimits, measureLimits } from './rig/machine-limits.ts'
import { type Server, startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

const usage = `npm run bench:ingest -- [options]
  --profile NAME        embedded or kafka (embedded)
  --points LIST         points a request (1000,100,16)
  --connections LIST    (1,4,16,64)
  --seconds N           for each pair of these (5)
  --server DIR          the checkout of the server to measure (this one)
  --node-flags=FLAGS    of the server, e.g. --cpu-prof
  --no-storage          leaves out the bytes per point
  --json FILE           also writes all figures there`

type Options = {
  kafka: boolean
  points: number[]
  connections: number[]
  seconds: number
  checkout: string
  nodeFlags: string[]
  storage: boolean
  json: string | null
}

type IngestFigures = {
  profile: 'embedded' | 'kafka'
  at: string
  machine: { cpus: number; model: string; load_before: number[] }
  limits: MachineLimits
  cells: Cell[]
  /** Results at half of the highest rate for each request size. */
  halfLoad: Cell[]
  storage: Storage | null
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      profile: { type: 'string', default: 'embedded' },
      points: { type: 'string', default: '1000,100,16' },
      connections: { type: 'string', default: '1,4,16,64' },
      seconds: { type: 'string', default: '5' },
      server: { type: 'string', default: join(import.meta.dirname, '..') },
      'node-flags': { type: 'string', default: '' },
      'no-storage': { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help || !['embedded', 'kafka'].includes(values.profile)) {
    console.error(usage)
    process.exit(values.help ? 0 : 2)
  }
  return {
    kafka: values.profile === 'kafka',
    points: values.points.split(',').map(Number),
    connections: values.connections.split(',').map(Number),
    seconds: Number(values.seconds),
    checkout: resolve(values.server),
    nodeFlags: values['node-flags'].split(' ').filter(flag => flag !== ''),
    storage: !values['no-storage'],
    json: values.json ?? null,
  }
}

const runCount = 64

async function openBench(server: Server, broker: KafkaBroker | null): Promise<Bench> {
  const token = await signIn(server.url)
  const runs = await createRuns(server.url, token, 'bench', runCount)
  const [probed] = await createRuns(server.url, token, 'bench-probe', 1)
  if (!probed) throw new Error('no run to probe with')
  return {
    url: server.url,
    runs,
    probe: await startProbe(server.url, token, probed),
    async pids() {
      const postmaster = await findPostmaster(server.dataDir)
      return [server.pid(), postmaster?.pid, broker?.pid()].flatMap(pid => pid ?? [])
    },
  }
}

async function measureLoads(
  bench: Bench,
  options: Options,
): Promise<Pick<IngestFigures, 'cells' | 'halfLoad'>> {
  const { seconds } = options
  const [points = 1000] = options.points
  // Warm-up: otherwise cold code and missing tables would slow the first pair.
  await measureCell(bench, { points, connections: 16, seconds: 2, rate: null })
  const cells: Cell[] = []
  const halfLoad: Cell[] = []
  for (const points of options.points) {
    for (const connections of options.connections) {
      cells.push(await measureCell(bench, { points, connections, seconds, rate: null }))
      say(cells.at(-1))
    }
    const best = cells
      .filter(cell => cell.points === points)
      .reduce((a, b) => (b.pointsPerSecond > a.pointsPerSecond ? b : a))
    const rate = best.pointsPerSecond / points / 2
    halfLoad.push(
      await measureCell(bench, { points, connections: best.connections, seconds, rate }),
    )
    say(halfLoad.at(-1))
  }
  return { cells, halfLoad }
}

const say = (cell: Cell | undefined) => cell && console.error(rowsOf([cell]).split('\n').at(-1))

const rowsOf = (cells: readonly Cell[]) =>
  toTable(cells, [
    ['points/request', cell => number(cell.points)],
    ['connections', cell => number(cell.connections)],
    ['points/s', cell => number(cell.pointsPerSecond)],
    ['requests/s', cell => number(cell.requestsPerSecond)],
    ['ack p50 ms', cell => number(cell.ack.p50, 1)],
    ['ack p99 ms', cell => number(cell.ack.p99, 1)],
    ['visible p99 ms', cell => number(cell.visible.p99)],
    ['CPU µs/point', cell => number(cell.cpuMicrosecondsPerPoint, 2)],
    ['load CPU µs/point', cell => number(cell.loadCpuMicrosecondsPerPoint, 2)],
    ['failures', cell => JSON.stringify(cell.failures)],
  ])

function print({ limits, cells, halfLoad, storage, machine, profile }: IngestFigures): void {
  console.log(`Profile ${profile}, ${machine.cpus} × ${machine.model}\n`)
  console.log(`${rowsOf(cells)}\n`)
  console.log(`At half of the highest rate, on a fixed schedule:\n\n${rowsOf(halfLoad)}\n`)
  if (storage)
    console.log(
      `Bytes a point: log ${number(storage.log, 1)}, L0 ${number(storage.l0, 1)}, L1 ${number(storage.l1, 1)} (${number(storage.points)} points)\n`,
    )
  console.log(
    `This machine: JSON.parse ${number(limits.jsonParsePointsPerSecond)} points/s, binary COPY ${number(limits.copyRowsPerSecond)} rows/s, fsync ${number(limits.fsyncsPerSecond)}/s`,
  )
}

async function measure(options: Options, broker: KafkaBroker | null): Promise<IngestFigures> {
  const env: Record<string, string> = broker ? { SERVICE_KAFKA_BROKERS: broker.address } : {}
  const [cpu] = cpus()
  const machine = { cpus: cpus().length, model: cpu?.model ?? 'unknown', load_before: loadavg() }
  const server = await startServer({
    env,
    nodeFlags: options.nodeFlags,
    checkout: options.checkout,
  })
  try {
    const client = await connect(server.dataDir)
    const limits = await measureLimits(client, server.dataDir, options.points[0] ?? 1000)
    await client.end()
    const bench = await openBench(server, broker)
    const loads = await measureLoads(bench, options)
    await bench.probe.stop()
    await server.stop()
    const storage = options.storage
      ? await measureStorage({
          env: { ...env, SERVICE_TOPIC_PREFIX: 'storage' },
          checkout: options.checkout,
        })
      : null
    const profile = options.kafka ? 'kafka' : 'embedded'
    return { profile, at: new Date().toISOString(), machine, limits, ...loads, storage }
  } finally {
    await server.stop()
    await server.remove()
  }
}

const options = readOptions()
const broker = options.kafka ? await startKafka() : null
try {
  const report = await measure(options, broker)
  print(report)
  if (options.json) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`)
} finally {
  await broker?.stop()
}
