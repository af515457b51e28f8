import test from 'ava'
import { isRepeated } from '../../../executor/slurm/turns.ts'

test('a job that Slurm forgot or withdrew is submitted again, up to four times', t => {
  t.true(isRepeated(null, 1))
  for (const state of ['CANCELLED', 'NODE_FAIL', 'BOOT_FAIL'])
    t.true(isRepeated({ states: [state], placed: true }, 4), state)
  t.false(isRepeated(null, 5))
  t.false(isRepeated({ states: ['NODE_FAIL'], placed: true }, 5))
})

test('a job that was cancelled while it waited, or ended normally, is not submitted again', t => {
  t.false(isRepeated({ states: ['CANCELLED'], placed: false }, 1))
  for (const state of ['FAILED', 'TIMEOUT', 'COMPLETED', 'OUT_OF_MEMORY'])
    t.false(isRepeated({ states: [state], placed: true }, 1), state)
})
