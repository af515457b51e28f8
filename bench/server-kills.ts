import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type OwnCluster, startCluster } from '../deploy/slurm/cluster.ts'
import { startPostgres } from '../test/servers/postgres-server.ts'
import { until } from '../test/servers/until.ts'
import { randomFrom } from '../test/whole/chaos/random.ts'
import { type Jobs, openJobs, plan } from './server-kills/jobs.ts'
import { daemonsOf, startInstallation, type Target, tend } from './server-kills/targets.ts'
import { type Ended, faultOf, type Planned } from './server-kills/verdict.ts'

const usage = `npm run bench:server-kills -- [options]
A job is submitted, and something that has to do with it is killed with SIGKILL a moment later; again and again, on one
installation. In the end each job must have run once, ended as it was to, and have its whole output on the log.
  --kills N          (100)
  --executor E       local: kills the server, the relay, the executor, or all three; slurm: also slurmctld and slurmd (local)
  --only TARGET      kills only this, e.g. slurmctld
  --seed S           repeats the choices; the instants differ (from the clock)`

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    executor: { type: 'string', default: 'local' },
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
if (values.help || !['local', 'slurm'].includes(values.executor)) {
  console.error(usage)
  process.exit(values.help ? 0 : 2)
}

/** The longest pause between a submit and the kill, in milliseconds: a job takes about as long. */
const longestMs = 4000
/** How long the last jobs may take once nothing is killed any more. */
const quietMs = 300_000
const random = randomFrom(Number(values.seed))
const folder = await mkdtemp(join(tmpdir(), 'forge-sk-'))
// Runs use their own system users.
await chmod(folder, 0o711)
const folderOf = async (name: string, mode = 0o711) => {
  const made = join(folder, name)
  await mkdir(made)
  await chmod(made, mode)
  return made
}
const stops: (() => Promise<unknown>)[] = []
// So that PostgreSQL ends with this process; the servers and Slurm notice its end themselves.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
try {
  const { address, stop } = await startPostgres(await folderOf('p'))
  stops.push(stop)
  const cluster = values.executor === 'slurm' ? await startSlurm() : null
  const scratch = await folderOf('scratch', 0o777)
  const installation = await startInstallation(folderOf, {
    NODE_COMPILE_CACHE: await folderOf('code'),
    SERVICE_DATABASE_URL: address,
    SERVICE_KEYS_SECRET: 'known to all three processes',
    SERVICE_LOCAL_GPUS: '64',
    SERVICE_LOCAL_WRITABLE: scratch,
    ...(cluster && slurmSettings(cluster, await folderOf('shared'))),
  })
  stops.push(installation.stop)
  const targets = [
    ...installation.targets,
    ...(cluster === null ? [] : daemonsOf(cluster, random)),
  ].filter(({ name }) => values.only === undefined || name === values.only)
  const jobs = await openJobs({ url: installation.url, profile: values.executor, scratch })
  await judge(jobs, await killBeside(jobs, targets))
} finally {
  for (const stop of stops.toReversed()) await stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

type Submitted = Planned & { run_id: string; killed: string }

async function killBeside(jobs: Jobs, targets: readonly Target[]): Promise<Submitted[]> {
  const submitted: Submitted[] = []
  const killed: Record<string, number> = {}
  const drawn = targets.flatMap(target => Array.from({ length: target.weight }, () => target))
  for (let kill = 1; kill <= Number(values.kills); kill++) {
    const planned = plan(`kill-${kill}`, random)
    const run_id = await jobs.submit(planned)
    await pause(random.whole(0, longestMs))
    const target = random.pick(drawn)
    await target.kill()
    submitted.push({ ...planned, run_id, killed: target.name })
    killed[target.name] = (killed[target.name] ?? 0) + 1
    if (kill % 10 === 0) console.error(`${kill} kills`)
  }
  const kills = Object.entries(killed).map(([name, times]) => `${name} ${times}`)
  console.log(
    `${submitted.length} jobs on ${values.executor}, killed: ${kills.join(', ')} (seed ${values.seed})`,
  )
  return submitted
}

/** Waits until all jobs have ended with their whole output, and compares each with its plan. */
async function judge(jobs: Jobs, submitted: readonly Submitted[]): Promise<void> {
  const ended = new Map<string, Ended>()
  const isWhole = async ({ run_id }: Submitted) => {
    const end = ended.get(run_id) ?? (await jobs.ended(run_id))
    if (end?.lines.includes('ends')) ended.set(run_id, end)
    return ended.has(run_id)
  }
  await until('all jobs have ended', quietMs, async () => {
    for (const job of submitted) if (!(await isWhole(job))) return false
    return true
  }).catch(error => console.error(String(error)))
  const count = { lost: 0, twice: 0, wrong: 0 }
  for (const job of submitted) {
    const end = ended.get(job.run_id) ?? (await jobs.ended(job.run_id))
    const marks = await jobs.marks(job)
    const fault = faultOf(job, end, marks)
    if (fault === null) continue
    count[fault]++
    const found = end ?? (await jobs.state(job.run_id))
    console.error(JSON.stringify({ fault, job, marks, found }))
  }
  const { lost, twice, wrong } = count
  console.log(`lost ${lost} twice ${twice} wrong ${wrong}`)
  process.exitCode = lost + twice + wrong === 0 ? 0 : 1
}

async function startSlurm(): Promise<OwnCluster> {
  const cluster = await startCluster({ folder: await folderOf('s'), nodes: 3, gpusPerNode: 16 })
  stops.push(cluster.stop)
  const tending = new AbortController()
  const tended = tend(cluster, tending.signal)
  stops.push(async () => {
    tending.abort()
    await tended
  })
  return cluster
}

function slurmSettings({ url, keyFile }: OwnCluster, shared: string): Record<string, string> {
  return {
    SERVICE_SLURM_URL: url,
    SERVICE_SLURM_JWT_KEY_FILE: keyFile,
    SERVICE_SLURM_DIR: shared,
  }
}
