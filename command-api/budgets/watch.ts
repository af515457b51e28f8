import { budgetAt } from '../../events/budgets.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, type Outcome, rows } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { noteSpending } from './decide.ts'
import { monthOf, readBudgets, saveSpent } from './rows.ts'

type Needed = Pick<Deps, 'pool' | 'now' | 'ledger'>

/** Changes recorded by one pass; the next one continues. */
const mostChanged = 500

/** Compares budgets with the bills every minute: stores the amounts spent, which hold jobs, and records crossed thresholds. */
export const budgetWatcher = reactor<object, Needed>({
  name: 'budgets',
  repeat: 'local',
  every: { seconds: 60, payload: () => ({}) },
  atOnce: 1,
  perform: async (_, deps) => look(deps),
})

async function look({ pool, now, ledger }: Needed): Promise<Outcome> {
  const at = now()
  const month = monthOf(at)
  const watched = await readBudgets(pool)
  const spent = await ledger.spent(watched, at)
  return watched
    .map((budget, nth) => ({ ...budget, now: { month, spent: spent[nth] ?? 0n } }))
    .filter(one => one.is_new || one.month !== month || one.spent_micro !== String(one.now.spent))
    .slice(0, mostChanged)
    .flatMap(({ scope, name, people, now: seen }): Change[] => [
      decided(budgetAt(scope, name), {
        decide: state => noteSpending(state, { scope, name }, { ...seen, tell: people }),
      }),
      rows(tx => saveSpent(tx, { scope, name, ...seen })),
    ])
}
