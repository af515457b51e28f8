import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Hardware } from '../command-api/profiles/decide.ts'
import { readEngineId } from '../executor/local/engine-id.ts'
import { hostEnvironment } from '../executor/local/environment.ts'
import type { Isolation } from '../executor/local/isolation.ts'
import { openLocalExecutor } from '../executor/local/local-executor.ts'
import type { Executor } from '../executor/port.ts'
import { createSlurmClient } from '../executor/slurm/client.ts'
import { createRest } from '../executor/slurm/rest.ts'
import { openSlurmExecutor } from '../executor/slurm/slurm-executor.ts'
import { createTokens } from '../executor/slurm/token.ts'
import { CannotStart } from '../platform/cannot-start.ts'
import { type Lock, locks, textLock } from '../platform/postgres/locks.ts'
import type { Config } from './config.ts'
import type { Core } from './core.ts'
import { environmentsIn, openIsolation } from './isolation.ts'

export type Engine = {
  /** The name that profiles refer to. */
  name: string
  /** The machine or cluster: a process with this id manages its attempts. */
  id: string
  executor: Executor
  /** Holds the folders of its runs. */
  runsDirectory: string
  /** Holds the Python environments of its runs. */
  environmentsDirectory: string
  /** Held by the only process that starts jobs on engines of this name. */
  starting: Lock
  hardware(): Promise<Hardware>
}

/** Opens the engines that this process can use. They need not be reachable. */
export async function openEngines(
  core: Core,
  now: () => Date,
): Promise<{ engines: Engine[]; isolation: Isolation }> {
  const { engine, isolation } = await openLocal(core, now)
  const slurm = await openSlurm(core, now)
  return { engines: slurm ? [engine, slurm] : [engine], isolation }
}

async function openLocal(core: Core, now: () => Date) {
  const { config } = core
  const runsDirectory = join(config.dataDir, 'runs')
  const isolation = await openIsolation(core, runsDirectory)
  const executor = await openLocalExecutor({
    runsDirectory,
    isolation,
    fakeGpus: config.localGpus,
    hostEnvironment: hostEnvironment(process.env),
    now,
  })
  const engine: Engine = {
    name: 'local',
    id: await readEngineId(config.dataDir, randomUUID),
    executor,
    runsDirectory,
    environmentsDirectory: environmentsIn(config),
    starting: locks.engine,
    async hardware() {
      const { gpus, series } = await executor.capacity()
      // A job may have as many nodes as there are GPUs: every node is this machine, and each runs its own rank.
      return { engine: 'local', series, gpus_per_node: gpus, max_nodes: Math.max(1, gpus) }
    },
  }
  return { engine, isolation }
}

async function openSlurm({ config }: Core, now: () => Date): Promise<Engine | null> {
  const { slurmUrl, slurmDir, slurmPartition, slurmAccount } = config
  if (slurmUrl === null || slurmDir === null) return null
  const own = userInfo().username
  const user = config.slurmUser ?? own
  // Its jobs read files that this server writes, and vice versa.
  if (user !== own)
    throw new CannotStart(
      `SERVICE_SLURM_USER=${user}, but this server runs as ${own}: start it as ${user}, so that both can read the files of runs.`,
    )
  const environmentsDirectory = join(slurmDir, 'environments')
  await mkdir(environmentsDirectory, { recursive: true, mode: 0o755 }).catch(error => {
    throw new CannotStart(`SERVICE_SLURM_DIR=${slurmDir} cannot be used: ${error.message}`, error)
  })
  const runsDirectory = join(slurmDir, 'runs')
  const executor = await openSlurmExecutor({
    runsDirectory,
    client: createSlurmClient(
      createRest({ url: slurmUrl, user, token: createTokens(tokenSourceOf(config, user), now) }),
    ),
    partition: slurmPartition,
    account: slurmAccount,
    hostEnvironment: hostEnvironment(process.env),
    now,
  })
  return {
    name: 'slurm',
    // An installation has one cluster, no matter which of its processes manages it.
    id: 'slurm',
    executor,
    runsDirectory,
    environmentsDirectory,
    starting: textLock('starts jobs on slurm'),
    async hardware() {
      const { type, gpus_per_node, nodes } = await executor.gpus()
      return {
        engine: 'slurm',
        series: type || 'gpu',
        gpus_per_node,
        max_nodes: Math.max(1, nodes),
      }
    },
  }
}

const tokenSourceOf = ({ slurmJwtKeyFile, slurmTokenFile }: Config, user: string) =>
  slurmJwtKeyFile === null
    ? { tokenFile: slurmTokenFile ?? '' }
    : { user, keyFile: slurmJwtKeyFile }
