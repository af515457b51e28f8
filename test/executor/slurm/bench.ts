import { mkdir, mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { type Cluster, type OwnCluster, startCluster } from '../../../deploy/slurm/cluster.ts'
import type { ClusterOptions } from '../../../deploy/slurm/layout.ts'
import type { ClaimRecord } from '../../../executor/attempts/attempt-directory.ts'
import { readJson } from '../../../executor/attempts/durable-json.ts'
import { slurmPaths } from '../../../executor/slurm/attempt-files.ts'
import { createSlurmClient, type SlurmClient } from '../../../executor/slurm/client.ts'
import { createRest, SlurmFault } from '../../../executor/slurm/rest.ts'
import { openSlurmExecutor } from '../../../executor/slurm/slurm-executor.ts'
import { createTokens } from '../../../executor/slurm/token.ts'
import { slurmCluster, slurmIsWanted } from '../../servers/slurm-cluster.ts'
import { until } from '../../servers/until.ts'
import type { Bench } from '../contract-rule.ts'
import { givenCommand } from '../preparations.ts'

export type SlurmBench = Bench & {
  cluster: Cluster
  client: SlurmClient
  runsDirectory: string
}

/** Waits for a file in its working folder, and ends with 9. */
export const waiting = ['sh', '-c', 'echo ready; until [ -e go ]; do sleep 0.1; done; exit 9']

const now = () => new Date()

/** Registers tests on the shared cluster, which they leave unchanged. */
export async function onSharedCluster(
  register: (open: () => Promise<SlurmBench>, cluster: Cluster) => void,
): Promise<void> {
  registerOn(await slurmCluster().catch(toFault), register)
}

/** Registers tests on a separate cluster, any part of which they may break. */
export async function onOwnCluster(
  options: Omit<ClusterOptions, 'folder'>,
  register: (open: () => Promise<SlurmBench>, cluster: OwnCluster) => void,
): Promise<void> {
  if (!slurmIsWanted) return registerOn(null, register)
  const folder = await mkdtemp(join(tmpdir(), 'forge-slurm-'))
  const cluster = await startCluster({ folder, ...options }).catch(toFault)
  if (!(cluster instanceof Error)) test.after.always(cluster.stop)
  registerOn(cluster, register)
}

/** Where a cluster is wanted and cannot be, one test fails and says why. */
function registerOn<C extends Cluster>(
  cluster: C | Error | null,
  register: (open: () => Promise<SlurmBench>, cluster: C) => void,
): void {
  if (cluster === null || cluster instanceof Error)
    test('a Slurm cluster can be started where its tests are wanted', t => {
      t.false(slurmIsWanted, cluster?.message)
    })
  else register(() => benchOn(cluster), cluster)
}

const toFault = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))

async function benchOn(cluster: Cluster): Promise<SlurmBench> {
  const shared = await mkdtemp(join(cluster.folder, 'shared-'))
  const scratch = join(shared, 'scratch')
  await mkdir(scratch)
  const runsDirectory = join(shared, 'runs')
  const client = clientOf(cluster)
  const open = async (through: SlurmClient) => {
    const { executor } = await openSlurmExecutor({
      runsDirectory,
      client: through,
      partition: cluster.partition,
      account: null,
      hostEnvironment: { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' },
      preparationCommand: givenCommand,
      now,
      settleMs: 1000,
    })
    return executor
  }
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
