import { executorContract } from './contract.ts'
import { localBench } from './local-bench.ts'

executorContract('local', localBench)
