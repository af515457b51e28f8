import type { Transaction } from '../commit/event-store.ts'

/** SQL: whether a budget that holds jobs is spent for a job of this owner in this project; each argument is SQL. */
export const isOverBudget = ({
  owner,
  project,
  now,
}: Record<'owner' | 'project' | 'now', string>) =>
  `exists (select from write.budget b
            where (b.scope = 'user' and b.name = ${owner} or b.scope = 'project' and b.name = ${project})
              and b.holds and b.month = to_char(${now}::timestamptz at time zone 'UTC', 'YYYY-MM')
              and b.spent_micro >= b.amount_micro)`

export async function overBudget(
  tx: Transaction,
  of: { owner: string; project: string; now: Date },
): Promise<boolean> {
  const { rows } = await tx.query<{ is_over: boolean }>({
    name: 'over_budget',
    text: `select ${isOverBudget({ owner: '$1', project: '$2', now: '$3' })} as is_over`,
    values: [of.owner, of.project, of.now],
  })
  return rows[0]?.is_over ?? false
}
