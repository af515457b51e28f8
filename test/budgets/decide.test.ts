import test from 'ava'
import { noteSpending, removeBudget, setBudget } from '../../command-api/budgets/decide.ts'
import { type BudgetEvent, budgets } from '../../events/budgets.ts'
import { forecastOf } from '../../query-api/budgets/routes.ts'
import { folded } from '../folded.ts'

const of = { scope: 'project', name: 'demo' } as const
const wanted = { amount_micro: '100000000', holds: true }

/** The percentages that these amounts make known, month by month, in units of the currency. */
function told(spendings: readonly (readonly [month: string, spent: number])[], amount = wanted) {
  const events: BudgetEvent[] = setBudget(folded(budgets, []), of, amount)
  const percents: number[][] = []
  for (const [month, spent] of spendings) {
    const noted = noteSpending(folded(budgets, events), of, {
      month,
      spent: BigInt(spent) * 1_000_000n,
      tell: ['ada'],
    })
    events.push(...noted)
    percents.push(noted.flatMap(({ data }) => ('percent' in data ? data.percent : [])))
  }
  return percents
}

test('each threshold is announced once a month; if several are crossed at once, only the highest', t => {
  const spendings = [49, 50, 50, 81, 79, 99, 100, 250].map(spent => ['2026-11', spent] as const)
  t.deepEqual(told(spendings), [[], [50], [], [80], [], [], [100], []])
  t.deepEqual(
    told([
      ['2026-11', 120],
      ['2026-12', 60],
      ['2026-11', 130],
      ['2026-12', 60],
    ]),
    [[100], [50], [], []],
  )
  t.deepEqual(
    told([['2026-11', 0]], { ...wanted, amount_micro: '0' }),
    [[100]],
    'nothing may be spent',
  )
})

test('setting or removing a budget again changes nothing, and a removed one announces nothing', t => {
  const set = setBudget(folded(budgets, []), of, wanted)
  const state = folded(budgets, set)
  t.deepEqual(setBudget(state, of, wanted), [])
  const gone = folded(budgets, [...set, ...removeBudget(state, of)])
  t.deepEqual(removeBudget(gone, of), [])
  t.deepEqual(noteSpending(gone, of, { month: '2026-11', spent: 10n ** 12n, tell: [] }), [])
})

test('the forecast is linear, to the millionth', t => {
  t.is(forecastOf(10_000_000n, new Date('2026-11-11T00:00:00Z')), 30_000_000n)
  t.is(forecastOf(1n, new Date('2026-12-31T23:59:59.999Z')), 1n)
  t.is(forecastOf(0n, new Date('2026-12-01T00:00:00Z')), 0n)
})
