import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { isReady } from '../test/servers/server-process.ts'
import { type SmallDisk, smallDisk } from '../test/servers/small-disk.ts'
import { hostileRequests, type Target } from '../test/whole/chaos/hostile.ts'
import { openLedger } from '../test/whole/chaos/ledger.ts'
import { randomFrom } from '../test/whole/chaos/random.ts'
import { addVerdicts, isClean, summary } from '../test/whole/chaos/verdict.ts'
import { checkLedger } from './chaos/check.ts'
import {
  type Client,
  hparamsClient,
  logsClient,
  metricsClient,
  rubricClient,
  runsClient,
} from './chaos/clients.ts'
import { type Drive, drive } from './chaos/drive.ts'
import { type KillReport, killAtRandom } from './chaos/kill.ts'
import { fencesFor, quiesce } from './chaos/quiesce.ts'
import { faultsOfProjections, type Rebuilds, rebuildOften, rebuildOnce } from './chaos/rebuilds.ts'
import { targetsOf } from './chaos/targets.ts'
import { cutLeavesSmall, type Trims, trimOften, trimOnce } from './chaos/trims.ts'
import { createRuns, type ExternalRun } from './rig/api.ts'
import { type KafkaBroker, startKafka } from './rig/kafka.ts'
import { spreadOf } from './rig/quantile.ts'
import { type Server, startServer } from './rig/server.ts'
import { number } from './rig/table.ts'

const usage = `npm run chaos -- [options]
  --kills N            how many processes to kill (10)
  --profile NAME       embedded or kafka (embedded)
  --seed S             repeats the choices of a run; the instants differ (from the clock)
  --clients N          runs that report at once (24)
  --hostile SHARE      share of hostile requests, which must be refused (0.02)
  --rest MS            longest pause of each client between two requests (150)
  --full-disk SECONDS  the server's disk, of 2 GiB in memory, is full for so long at each kill (needs root)
  --keep               keeps the data directory and the ledger afterwards`

const supervisorDelayMs = 500
const diskMebibytes = 2048
const project = 'chaos'
const madeProject = 'chaos-made'
const rubrics = ['tone', 'proof']

type Options = {
  kills: number
  kafka: boolean
  seed: number
  clients: number
  restMs: number
  hostile: number
  /** Null: the disk has room. */
  fullDiskMs: number | null
  keep: boolean
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '10' },
      profile: { type: 'string', default: 'embedded' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      clients: { type: 'string', default: '24' },
      rest: { type: 'string', default: '150' },
      hostile: { type: 'string', default: '0.02' },
      'full-disk': { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help || !['embedded', 'kafka'].includes(values.profile)) {
    console.error(usage)
    process.exit(values.help ? 0 : 2)
  }
  return {
    kills: Number(values.kills),
    kafka: values.profile === 'kafka',
    seed: Number(values.seed),
    clients: Number(values.clients),
    restMs: Number(values.rest),
    hostile: Number(values.hostile),
    fullDiskMs: values['full-disk'] === undefined ? null : Number(values['full-disk']) * 1000,
    keep: values.keep,
  }
}

const say = (line: string) => console.error(`${new Date().toISOString().slice(11, 23)} ${line}`)

type Rig = {
  server: Server
  broker: KafkaBroker | null
  disk: SmallDisk | null
  ledgerPath: string
}

/** Returns whether nothing was lost, repeated, invented or changed, without unexpected errors. */
async function rehearse(
  options: Options,
  { server, broker, disk, ledgerPath }: Rig,
): Promise<boolean> {
  const random = randomFrom(options.seed)
  const brokers = broker?.address ?? null
  if (!broker) await cutLeavesSmall(server.dataDir)
  const admin = await signIn(server.url)
  const reader = { url: server.url, token: admin }
  const runs = await createRuns(server.url, admin, project, options.clients + 1)
  const ledger = await openLedger(ledgerPath)
  let salt = 0
  const newSalt = () => ++salt
  const load = drive(clientsFor(runs, newSalt), {
    url: server.url,
    credentials: { admin, ingest: new Map(runs.map(({ run_id, token }) => [run_id, token])) },
    ledger,
    random,
    restMs: options.restMs,
    hostile: { requests: hostileRequests(targetOf(runs, admin)), share: options.hostile },
  })
  const rebuilding = rebuildOften(reader, randomFrom(options.seed + 1))
  const trimming = trimOften(server.dataDir, brokers)
  const report = await killAtRandom({
    targets: targetsOf(server, broker),
    kills: options.kills,
    random,
    isReady: () => isReady(server.url),
    readiness: () => readinessOf(server.url),
    fullDisk: disk && options.fullDiskMs !== null ? { disk, ms: options.fullDiskMs } : null,
    report: say,
  })
  await Promise.all([load.stop(), rebuilding.stop(), trimming.stop()])
  say('the load has ended; waiting until everything acknowledged can be read')
  await broker?.started()
  await server.ready()
  const subjects = { runs: runs.map(run => run.run_id), rubrics, project: madeProject }
  await quiesce(load, reader, fencesFor(subjects, newSalt)).catch(error =>
    say(`not all became readable: ${error.message}`),
  )
  await ledger.close()
  const live = await checkLedger(ledgerPath, reader)
  say('reading everything again after a last trim and a last rebuild')
  trimming.trims.records += await trimOnce(server.dataDir, brokers)
  await rebuildOnce(reader)
  const verdict = addVerdicts([live, await checkLedger(ledgerPath, reader)])
  load.tally.unexpected.push(...(await faultsOfProjections(reader)))
  tellKills(report)
  tellUpkeep(rebuilding.rebuilds, trimming.trims)
  tell(load.tally)
  for (const example of verdict.examples) say(example)
  say(`${number(live.checked)} registers checked, twice; seed ${options.seed}`)
  console.log(summary(verdict))
  return isClean(verdict) && load.tally.unexpected.length === 0
}

const readinessOf = (url: string): Promise<string> =>
  fetch(`${url}/api/readyz`, { signal: AbortSignal.timeout(10_000) })
    .then(response => response.text())
    .catch(error => `no response (${error.message})`)

/** Hostile requests target the first run; the last run's values are too large to be summed. */
function targetOf(runs: readonly ExternalRun[], person: string): Target {
  const [first, other] = runs
  if (!first || !other) throw new Error('two runs are needed')
  return { person, run: first.run_id, token: first.token, otherRun: other.run_id }
}

/** Two of them in one series overflow its sum. */
const huge = [1e308, Number.MAX_VALUE, -1e308]

function clientsFor(runs: readonly ExternalRun[], newSalt: () => number): Client[] {
  const ordinary = runs.slice(0, -1)
  const some = <T>(share: number, make: (run: string) => T) =>
    ordinary.slice(0, Math.ceil(ordinary.length * share)).map(({ run_id }) => make(run_id))
  const newHuge = () => huge[newSalt() % huge.length] ?? 0
  return [
    ...some(1, run => metricsClient(run, newSalt)),
    ...some(0.5, logsClient),
    ...some(0.1, run => hparamsClient(run, newSalt)),
    ...runs.slice(-1).map(({ run_id }) => metricsClient(run_id, newHuge)),
    ...rubrics.map(name => rubricClient('admin', name, newSalt)),
    runsClient(madeProject),
  ]
}

function tellKills({ kills, recoveryMs }: KillReport): void {
  const recovery = spreadOf(recoveryMs)
  const counted = Object.entries(kills).map(([name, times]) => `${name} ${times}`)
  say(
    `killed: ${counted.join(', ')}; ready again after p50 ${number(recovery.p50)} ms, at most ${number(recovery.max)} ms`,
  )
}

function tellUpkeep({ asked, succeeded, failed, cutShort }: Rebuilds, trims: Trims): void {
  say(`rebuilds: ${asked} requested, ${succeeded} succeeded, ${cutShort} ended with their process`)
  for (const [why, times] of failed) say(`rebuilds: ${times} failed: ${why}`)
  say(`trims: ${number(trims.records)} records in ${trims.done} trims while processes were killed`)
}

function tell({ operations, attacks, answers, unexpected, slowestMs }: Drive['tally']): void {
  const counted = [...answers].map(([answer, times]) => `${answer} ${number(times)}`).join(', ')
  say(`${number(operations)} requests (${counted}), the slowest took ${number(slowestMs)} ms`)
  say(`${number(attacks)} hostile requests in addition`)
  for (const answer of unexpected) say(`unexpected response: ${answer}`)
}

async function main(): Promise<boolean> {
  const options = readOptions()
  const ends: (() => unknown)[] = []
  const later = { teardown: (end: () => unknown) => void ends.push(end) }
  try {
    const broker = options.kafka ? await startKafka() : null
    if (broker) ends.push(() => broker.stop())
    const disk = options.fullDiskMs === null ? null : await smallDisk(later, diskMebibytes)
    // On the full disk, neither the ledger nor the server's log could be written.
    const notes = await mkdtemp(join(tmpdir(), 'forge-chaos-'))
    let isClean = false
    ends.push(async () => {
      if (options.keep || !isClean) say(`the ledger and the server's log are in ${notes}`)
      else await rm(notes, { recursive: true, force: true })
    })
    const server = await startServer({
      outputFolder: notes,
      ...(disk && { inside: disk.folder }),
      restartAfterMs: supervisorDelayMs,
      env: {
        ...(broker && { SERVICE_KAFKA_BROKERS: broker.address }),
        ...(disk && { SERVICE_DISK_RESERVE_MB: '256' }),
      },
    })
    if (!options.keep) ends.push(() => server.remove())
    ends.push(() => server.stop())
    say(`the server runs at ${server.url}, its data in ${server.dataDir}; seed ${options.seed}`)
    isClean = await rehearse(options, { server, broker, disk, ledgerPath: join(notes, 'ledger') })
    return isClean
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

process.exitCode = (await main()) ? 0 : 1
