import { executorContract } from '../contract.ts'
import { onCluster } from './bench.ts'

await onCluster({}, open => executorContract('slurm', open))
