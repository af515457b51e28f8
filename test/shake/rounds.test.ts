import test from 'ava'
import { roundOf, variablesOf } from './rounds.ts'

const now = new Date('2026-11-25T12:00:00Z')
const rounds = (clock: boolean, busy = false) =>
  Array.from({ length: 40 }, (_, nth) => roundOf(7, nth, { busy, clock, now }))

test('rounds are the same for the same seed, differ from each other, and every other one is busy', t => {
  t.deepEqual(rounds(true), rounds(true))
  for (const field of ['seed', 'zone', 'locale', 'aheadS'] as const)
    t.true(new Set(rounds(true).map(round => round[field])).size > 3, field)
  t.is(rounds(true).filter(({ isBusy }) => isBusy).length, 20)
  t.true(rounds(true, true).every(({ isBusy }) => isBusy))
})

test('the clock is put forward only where that is possible', t => {
  t.true(rounds(false).every(({ aheadS }) => aheadS === 0))
  const ahead = rounds(true).find(({ aheadS }) => aheadS > 0)
  if (!ahead) return t.fail('never')
  const at = new Date(now.getTime() + ahead.aheadS * 1000).toISOString()
  t.regex(at, /^202[78]-\d\d-\d\dT(23|00):55:00/)
  t.like(variablesOf(ahead, '/lib/libfaketime.so.1'), {
    LD_PRELOAD: '/lib/libfaketime.so.1',
    FAKETIME: `+${ahead.aheadS}s`,
  })
  t.false('LD_PRELOAD' in variablesOf(ahead, null))
})
