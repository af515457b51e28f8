import test from 'ava'
import { executorContract } from './contract.ts'
import { benchWith } from './local-bench.ts'
import { survivalRules } from './survival.ts'
import { whatHolds } from './what-holds.ts'

const { bubblewrap } = await whatHolds()
if (bubblewrap === null) {
  executorContract('bubblewrap', benchWith('bubblewrap'))
  survivalRules('bubblewrap')
} else
  test('bubblewrap cannot be tried here', t => {
    t.log(bubblewrap)
    t.not(process.env.FORGE_TEST_BUBBLEWRAP, 'required', bubblewrap)
    t.regex(bubblewrap, /bwrap|bubblewrap|namespace|Operation not permitted/i)
  })
