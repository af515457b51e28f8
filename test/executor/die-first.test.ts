import { readFileSync } from 'node:fs'
import test from 'ava'
import { startedToDieFirst } from '../../executor/node/die-first.ts'

const own = () => Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))

test('a child starts with the preference, and this process gets its previous value back', t => {
  const before = own()
  const failure = () =>
    startedToDieFirst(() => {
      throw new Error('no such program')
    })
  t.is(startedToDieFirst(own), Math.max(before, 500))
  t.is(own(), before)
  t.throws(failure, { message: 'no such program' })
  t.is(own(), before)
})
