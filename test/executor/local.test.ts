import { localBench } from './bench.ts'
import { executorContract } from './contract.ts'

executorContract('local', localBench)
