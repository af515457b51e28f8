import { executorContract } from '../contract.ts'
import { onSharedCluster } from './bench.ts'

await onSharedCluster(open => executorContract('slurm', open))
