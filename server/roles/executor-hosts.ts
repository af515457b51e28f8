import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Hardware } from '../../command-api/profiles/decide.ts'
import { expandedBytes } from '../../command-api/uploads/complete.ts'
import { readHostId } from '../../executor/local/host-id.ts'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { hostEnvironment } from '../../executor/node/environment.ts'
import type { Isolation } from '../../executor/node/isolation.ts'
import type { Executor } from '../../executor/port.ts'
import { preparationOnHost } from '../../executor/preparation/host-preparation.ts'
import { createSlurmClient } from '../../executor/slurm/client.ts'
import { createRest } from '../../executor/slurm/rest.ts'
import { openSlurmExecutor } from '../../executor/slurm/slurm-executor.ts'
import { createTokens } from '../../executor/slurm/token.ts'
import { CannotStart } from '../../platform/cannot-start.ts'
import { type Lock, locks, textLock } from '../../platform/postgres/locks.ts'
import type { Core } from '../core.ts'
import { datasetsIn, uploadsIn, volumesIn } from '../data-directory.ts'
import type { Config } from '../settings/config.ts'
import { readSettingFile } from '../settings/secret-file.ts'
import { environmentsIn, openIsolation, python } from './isolation.ts'

/** An executor and the machine or cluster that it runs attempts on. */
export type ExecutorHost = {
  /** The name that profiles refer to. */
  name: string
  /** The machine or cluster: a process with this id manages its attempts. */
  id: string
  executor: Executor
  /** Where engines of replicas have their sockets; null if they run on other machines. */
  runsDirectory: string | null
  /** Where its runs share datasets and models. */
  datasetsDirectory: string
  /** Held by the only process that starts jobs on executors of this name. */
  starting: Lock
  hardware(): Promise<Hardware>
}

/** Opens the executors that this process can use. Their hosts need not be reachable. */
export async function openExecutorHosts(
  core: Core,
  now: () => Date,
): Promise<{ hosts: ExecutorHost[]; isolation: Isolation }> {
  const { host, isolation } = await openLocal(core, now)
  const slurm = await openSlurm(core, now)
  return { hosts: slurm ? [host, slurm] : [host], isolation }
}

async function openLocal(core: Core, now: () => Date) {
  const { config } = core
  const runsDirectory = join(config.dataDir, 'runs')
  const environmentsDirectory = environmentsIn(config)
  const datasetsDirectory = datasetsIn(config.dataDir)
  const isolation = await openIsolation(core, runsDirectory)
  const executor = await openLocalExecutor({
    runsDirectory,
    isolation,
    fakeGpus: config.localGpus,
    diskBytes: config.localDiskGb === 0 ? null : config.localDiskGb * 1e9,
    volumesDirectory: volumesIn(config.dataDir),
    hostEnvironment: hostEnvironment(process.env),
    preparationCommand: preparationOnHost({
      ...hostFiles(core),
      runsDirectory,
      environmentsDirectory,
      datasetsDirectory,
      volumesDirectory: volumesIn(config.dataDir),
    }),
    now,
  })
  const host: ExecutorHost = {
    name: 'local',
    id: await readHostId(config.dataDir, randomUUID),
    executor,
    runsDirectory,
    datasetsDirectory,
    starting: locks.engine,
    async hardware() {
      const { gpus, series } = await executor.capacity()
      // A job may have as many nodes as there are GPUs: every node is this machine, and each runs its own rank.
      return { executor: 'local', series, gpus_per_node: gpus, max_nodes: Math.max(1, gpus) }
    },
  }
  return { host, isolation }
}

async function openSlurm(core: Core, now: () => Date): Promise<ExecutorHost | null> {
  const { config } = core
  const { slurmUrl, slurmDir, slurmPartition, slurmAccount } = config
  if (slurmUrl === null || slurmDir === null) return null
  const own = userInfo().username
  const user = config.slurmUser ?? own
  // Its jobs read files that this server writes, and vice versa.
  if (user !== own)
    throw new CannotStart(
      `SERVICE_SLURM_USER=${user}, but this server runs as ${own}: start it as ${user}, so that both can read the files of runs.`,
    )
  await refuseEmptyFiles(config)
  const environmentsDirectory = join(slurmDir, 'environments')
  await mkdir(environmentsDirectory, { recursive: true, mode: 0o755 }).catch(error => {
    throw new CannotStart(`SERVICE_SLURM_DIR=${slurmDir} cannot be used: ${error.message}`, error)
  })
  const runsDirectory = join(slurmDir, 'runs')
  const datasetsDirectory = datasetsIn(slurmDir)
  const { executor, gpus } = await openSlurmExecutor({
    runsDirectory,
    client: createSlurmClient(
      createRest({ url: slurmUrl, user, token: createTokens(tokenSourceOf(config, user), now) }),
    ),
    partition: slurmPartition,
    account: slurmAccount,
    hostEnvironment: hostEnvironment(process.env),
    preparationCommand: preparationOnHost({
      ...hostFiles(core),
      runsDirectory,
      environmentsDirectory,
      datasetsDirectory,
      volumesDirectory: volumesIn(slurmDir),
    }),
    now,
  })
  return {
    name: 'slurm',
    // An installation has one cluster, no matter which of its processes manages it.
    id: 'slurm',
    executor,
    runsDirectory: null,
    datasetsDirectory,
    starting: textLock('starts jobs on slurm'),
    async hardware() {
      const { type, gpus_per_node, nodes } = await gpus()
      return {
        executor: 'slurm',
        series: type || 'gpu',
        gpus_per_node,
        max_nodes: Math.max(1, nodes),
      }
    },
  }
}

const hostFiles = ({ catalogue, config }: Core) => ({
  recipe: (name: string, version: string) => catalogue.provide(name, version),
  uploadsDirectory: uploadsIn(config),
  packageLimitBytes: expandedBytes(config),
  python,
})

/** The files are read again at each token, so that they can be replaced; a wrong path is noticed at the start. */
async function refuseEmptyFiles({ slurmJwtKeyFile: key, slurmTokenFile: token }: Config) {
  if (key !== null) await readSettingFile('SERVICE_SLURM_JWT_KEY_FILE', key)
  if (token !== null) await readSettingFile('SERVICE_SLURM_TOKEN_FILE', token)
}

const tokenSourceOf = ({ slurmJwtKeyFile, slurmTokenFile }: Config, user: string) =>
  slurmJwtKeyFile === null
    ? { tokenFile: slurmTokenFile ?? '' }
    : { user, keyFile: slurmJwtKeyFile }
