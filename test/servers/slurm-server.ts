import { join } from 'node:path'
import { type ClusterAddress, startCluster } from '../../deploy/slurm/cluster.ts'
import type { Hosted } from './hosted.ts'

/** A cluster for one test run. */
export async function startSlurm(folder: string): Promise<Hosted> {
  const cluster = await startCluster({ folder: join(folder, 'cluster') })
  const { url, nodes } = cluster
  const address: ClusterAddress = { folder: cluster.folder, url, nodes }
  return { address: JSON.stringify(address), stop: cluster.stop }
}
