import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Cluster, startCluster } from '../deploy/slurm/cluster.ts'
import { signIn } from '../test/servers/api.ts'
import { serverProcess } from '../test/servers/server-process.ts'
import { randomFrom } from '../test/whole/chaos/random.ts'
import { judge, openJobs, type Planned, plan } from './server-kills/jobs.ts'

const usage = `npm run bench:server-kills -- [options]
A job is submitted, and something that has to do with it is killed with SIGKILL a moment later; again and again, on one
installation. In the end each job must have run once, ended as it was to, and have its whole output on the log.
  --kills N          (100)
  --executor E       local: kills the server with its relay; slurm: also slurmctld and the slurmd of nodes (local)
  --seed S           repeats the choices; the instants differ (from the clock)`

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    executor: { type: 'string', default: 'local' },
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
const random = randomFrom(Number(values.seed))
const folder = await mkdtemp(join(tmpdir(), 'forge-sk-'))
const cluster = values.executor === 'slurm' ? await startSlurm() : null
const server = await serverProcess({
  folder,
  restartAfterMs: 100,
  env: { SERVICE_LOCAL_GPUS: '64', ...(cluster && slurmSettings(cluster)) },
})
const killDaemon = async (name: Parameters<Cluster['daemon']>[0]) => {
  const daemon = cluster?.daemon(name)
  await daemon?.stop('SIGKILL')
  await daemon?.restart()
}
/** The server is started again by what watches it. */
const targets = [
  { kind: 'server', kill: async () => void (await server.kill()) },
  ...(cluster
    ? [
        { kind: 'slurmctld', kill: () => killDaemon('slurmctld') },
        { kind: 'slurmd', kill: () => killDaemon(`slurmd ${random.pick(cluster.nodes)}`) },
      ]
    : []),
]
try {
  await server.start()
  await killAndJudge()
} finally {
  await server.stop()
  await cluster?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

async function killAndJudge(): Promise<void> {
  const jobs = await openJobs(server.url, await signIn(server.url), values.executor)
  const planned: Planned[] = []
  const killed: Record<string, number> = {}
  for (let kill = 1; kill <= Number(values.kills); kill++) {
    const next = plan(random)
    planned.push({ ...next, run_id: await jobs.submit(next, `kill-${kill}`) })
    await pause(random.whole(0, longestMs))
    const { kind, kill: killIt } = random.pick(targets)
    await killIt()
    killed[kind] = (killed[kind] ?? 0) + 1
    if (kill % 10 === 0) console.error(`${kill} kills`)
  }
  const verdict = await judge(jobs, planned)
  for (const fault of verdict.faults) console.error(fault)
  const kills = Object.entries(killed).map(([what, count]) => `${what} ${count}`)
  console.log(
    `${planned.length} jobs on ${values.executor}, killed: ${kills.join(', ')} (seed ${values.seed})`,
  )
  console.log(`lost ${verdict.lost} twice ${verdict.twice} wrong ${verdict.wrong}`)
  process.exitCode = verdict.faults.length === 0 ? 0 : 1
}

function startSlurm(): Promise<Cluster> {
  return startCluster({ folder: join(folder, 's'), nodes: 3, gpusPerNode: 16 })
}

function slurmSettings({ url, keyFile }: Cluster): Record<string, string> {
  return {
    SERVICE_SLURM_URL: url,
    SERVICE_SLURM_JWT_KEY_FILE: keyFile,
    SERVICE_SLURM_DIR: join(folder, 'shared'),
  }
}
