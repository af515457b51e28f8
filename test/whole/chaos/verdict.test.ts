import test from 'ava'
import fc from 'fast-check'
import { type Done, expectationsOf } from './expectation.ts'
import { type Operation, type Write, writesOf } from './operations.ts'
import { isClean, judge, judgeOrder, summary } from './verdict.ts'

const metrics = (first_step: number, steps: number, salt: number): Operation => ({
  kind: 'metrics',
  run: 'run_a',
  keys: ['loss', 'accuracy'],
  first_step,
  steps,
  salt,
})

/** An operation and its outcome; `applied` matters only if the response was lost. */
type Trial = { operation: Operation; outcome: Done['outcome']; applied: boolean }

const trials: fc.Arbitrary<Trial[]> = fc.array(
  fc.record({
    operation: fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 5 }), fc.nat(50))
      .map(([first, steps, salt]) => metrics(first, steps, salt)),
    outcome: fc.constantFrom('ok' as const, 'ok' as const, 'failed' as const, 'unknown' as const),
    applied: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
)

/** A store that keeps acknowledged writes, and operations without a response according to `applied`. */
function honestStore(history: readonly Trial[]): Map<string, string> {
  const store = new Map<string, string>()
  for (const { operation, outcome, applied } of history)
    if (outcome === 'ok' || (outcome === 'unknown' && applied))
      for (const { register, value } of writesOf(operation)) store.set(register, value)
  return store
}

const toWrites = (store: Map<string, string>): Write[] =>
  [...store].map(([register, value]) => ({ register, value }))

/** An honest store, and one of the acknowledged cells; a history without any is skipped. */
function acknowledgedCell(history: readonly Trial[], which: number) {
  const cells = [...expectationsOf(history)].filter(([, cell]) => cell.acknowledged !== null)
  fc.pre(cells.length > 0)
  return { store: honestStore(history), register: cells[which % cells.length]?.[0] ?? '' }
}

test('a store that keeps all acknowledged writes has no faults', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(trials, history => {
        const verdict = judge(expectationsOf(history), toWrites(honestStore(history)))
        return isClean(verdict)
      }),
    ),
  )
})

test('exactly the missing acknowledged cells count as lost', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(trials, fc.nat(), (history, which) => {
        const { store, register } = acknowledgedCell(history, which)
        store.delete(register)
        const verdict = judge(expectationsOf(history), toWrites(store))
        return summary(verdict) === 'lost 1 duplicated 0 phantom 0 wrong 0'
      }),
    ),
  )
})

test('a cell read twice counts as duplicated', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(trials, fc.nat(), (history, which) => {
        const written = toWrites(honestStore(history))
        const twice = written[which % Math.max(1, written.length)]
        fc.pre(twice !== undefined)
        const verdict = judge(expectationsOf(history), twice ? [...written, twice] : written)
        return summary(verdict) === 'lost 0 duplicated 1 phantom 0 wrong 0'
      }),
    ),
  )
})

test('a value that nobody sent counts as wrong', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(trials, fc.nat(), (history, which) => {
        const { store, register } = acknowledgedCell(history, which)
        store.set(register, '-1')
        const verdict = judge(expectationsOf(history), toWrites(store))
        return summary(verdict) === 'lost 0 duplicated 0 phantom 0 wrong 1'
      }),
    ),
  )
})

test('a cell of a refused or missing request counts as phantom', t => {
  const history: Done[] = [
    { operation: metrics(1, 1, 5), outcome: 'ok' },
    { operation: metrics(2, 1, 6), outcome: 'failed' },
  ]
  const observed = [metrics(1, 1, 5), metrics(2, 1, 6), metrics(3, 1, 7)].flatMap(writesOf)
  const verdict = judge(expectationsOf(history), observed)
  t.is(summary(verdict), 'lost 0 duplicated 0 phantom 4 wrong 0')
})

test('an earlier acknowledged value is wrong once a later one was acknowledged', t => {
  const history: Done[] = [
    { operation: metrics(1, 1, 5), outcome: 'ok' },
    { operation: metrics(1, 1, 6), outcome: 'ok' },
  ]
  const stale = judge(expectationsOf(history), writesOf(metrics(1, 1, 5)))
  t.is(summary(stale), 'lost 0 duplicated 0 phantom 0 wrong 2')
})

test('a write without a response may be stored or not', t => {
  const history: Done[] = [
    { operation: metrics(1, 1, 5), outcome: 'ok' },
    { operation: metrics(1, 2, 6), outcome: 'unknown' },
  ]
  const expected = expectationsOf(history)
  t.true(isClean(judge(expected, writesOf(metrics(1, 1, 5)))))
  t.true(isClean(judge(expected, writesOf(metrics(1, 2, 6)))))
})

test('log lines out of the order in which they were sent are wrong', t => {
  const order = new Map([
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ])
  t.is(judgeOrder(['a', 'b', 'c'], order).wrong, 0)
  t.is(judgeOrder(['a', 'c', 'b'], order).wrong, 1)
})
