import test, { type ExecutionContext } from 'ava'
import { executorContract } from './contract.ts'
import { benchWith } from './local-bench.ts'
import { survivalRules } from './survival.ts'
import { type TestedIsolation, whatHolds } from './what-holds.ts'

type Otherwise = {
  title: string
  /** Checks the reason why the isolation does not hold here. */
  check(t: ExecutionContext, reason: string): void
}

/** The contract of the executor with this isolation; where it does not hold, a test of the reason instead. */
export async function isolationContract(
  isolation: TestedIsolation,
  name: string,
  { title, check }: Otherwise,
): Promise<void> {
  const { [isolation]: reason } = await whatHolds()
  if (reason === null) {
    executorContract(name, benchWith(isolation))
    survivalRules(isolation)
  } else
    test(title, t => {
      t.log(reason)
      check(t, reason)
    })
}
