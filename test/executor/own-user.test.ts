import test from 'ava'
import { executorContract } from './contract.ts'
import { benchWith } from './local-bench.ts'
import { survivalRules } from './survival.ts'
import { whatHolds } from './what-holds.ts'

const { user } = await whatHolds()
if (user === null) {
  executorContract('a user for each run', benchWith('user'))
  survivalRules('user')
} else
  test('only root can give each run its own user', t => {
    t.log(user)
    t.not(process.getuid?.(), 0, user)
  })
