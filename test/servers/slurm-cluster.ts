import { type Cluster, type ClusterAddress, clusterAt } from '../../deploy/slurm/cluster.ts'
import { addressOf } from './rendezvous.ts'

/** `npm run test:slurm` sets it, and `.ci/run` where Slurm can be installed. */
export const slurmIsWanted = process.env.FORGE_TEST_SLURM === 'required'

/** The cluster that all tests share, or null if none is wanted. Throws if one is required but cannot be started. */
export async function slurmCluster(): Promise<Cluster | null> {
  if (!slurmIsWanted) return null
  return clusterAt(JSON.parse(await addressOf('slurm')) as ClusterAddress)
}
