import test from 'ava'
import { executorContract } from './contract.ts'
import { benchWith } from './local-bench.ts'
import { survivalRules } from './survival.ts'
import { whatHolds } from './what-holds.ts'

const { landlock } = await whatHolds()
if (landlock === null) {
  executorContract('landlock', benchWith('landlock'))
  survivalRules('landlock')
} else
  test('this kernel has no Landlock', t => {
    t.log(landlock)
    t.regex(landlock, /landlock/i)
  })
