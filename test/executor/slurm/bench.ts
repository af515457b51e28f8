import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { type Cluster, startCluster } from '../../../deploy/slurm/cluster.ts'
import type { ClusterOptions } from '../../../deploy/slurm/layout.ts'
import { SlurmMissing } from '../../../deploy/slurm/packages.ts'
import type { ClaimRecord } from '../../../executor/local/attempt-directory.ts'
import { readJson } from '../../../executor/local/durable-json.ts'
import { slurmPaths } from '../../../executor/slurm/attempt-files.ts'
import { createSlurmClient, type SlurmClient } from '../../../executor/slurm/client.ts'
import { createRest, SlurmFault } from '../../../executor/slurm/rest.ts'
import { openSlurmExecutor, type SlurmExecutor } from '../../../executor/slurm/slurm-executor.ts'
import { createTokens } from '../../../executor/slurm/token.ts'
import { until } from '../../servers/until.ts'
import type { Bench } from '../contract-rule.ts'

export type SlurmBench = Bench & {
  executor: SlurmExecutor
  reopen(): Promise<SlurmExecutor>
  cluster: Cluster
  client: SlurmClient
  runsDirectory: string
}

const now = () => new Date()

/** `npm run test:slurm` sets it. */
const isWanted = process.env.FORGE_TEST_SLURM === 'required'

/** Registers tests on a real cluster of their own, where that is wanted; there, one test fails if there can be none. */
export async function onCluster(
  options: Omit<ClusterOptions, 'folder'>,
  register: (open: () => Promise<SlurmBench>, cluster: Cluster) => void,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-slurm-'))
  const cluster = isWanted ? await startedIn({ folder, ...options }) : null
  if (cluster === null || cluster instanceof SlurmMissing) {
    test('a Slurm cluster can be started where its tests are wanted', t => {
      t.false(isWanted, cluster?.message)
    })
    return
  }
  test.after.always(async () => {
    await cluster.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  register(() => benchOn(cluster), cluster)
}

const startedIn = (options: ClusterOptions) =>
  startCluster(options).catch((error: unknown) => {
    if (error instanceof SlurmMissing) return error
    throw error
  })

async function benchOn(cluster: Cluster): Promise<SlurmBench> {
  const shared = await mkdtemp(join(cluster.folder, 'shared-'))
  const scratch = join(shared, 'scratch')
  await mkdir(scratch)
  const runsDirectory = join(shared, 'runs')
  const client = clientOf(cluster)
  const open = (through: SlurmClient) =>
    openSlurmExecutor({
      runsDirectory,
      client: through,
      partition: cluster.partition,
      account: null,
      hostEnvironment: { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' },
      now,
      settleMs: 1000,
    })
  return {
    executor: await open(client),
    reopen: () => open(client),
    ...{ scratch, cluster, client, runsDirectory },
    choosesGpus: true,
    killAgent: ref => killSupervisor(runsDirectory, ref),
    async submitUnheard(launch) {
      const losing = await open({
        ...client,
        async submit(job) {
          await client.submit(job)
          throw new SlurmFault('the response was lost')
        },
      })
      await losing.submit(launch).catch(error => {
        if (!(error instanceof SlurmFault)) throw error
      })
    },
    async takeAway() {
      // As if the folder was not mounted.
      const aside = join(shared, 'aside')
      await rename(runsDirectory, aside)
      return () => rename(aside, runsDirectory)
    },
  }
}

export async function killSupervisor(runsDirectory: string, ref: string): Promise<void> {
  const claim = slurmPaths(join(runsDirectory, ref)).node(0).claim(1)
  const { supervisor } = await until('it has a supervisor', 60_000, () =>
    readJson<ClaimRecord>(claim),
  )
  if (supervisor) process.kill(supervisor.pid, 'SIGKILL')
}

export const clientOf = ({ url, user, keyFile }: Cluster): SlurmClient =>
  createSlurmClient(createRest({ url, user, token: createTokens({ user, keyFile }, now) }))
