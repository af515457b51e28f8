import type { Transaction } from '../commit/event-store.ts'

/** SQL: whether a budget that holds jobs is spent for a job of this owner, project and team; each argument is SQL. */
export const isOverBudget = ({
  owner,
  project,
  team,
  now,
}: Record<'owner' | 'project' | 'team' | 'now', string>) =>
  `exists (select from write.budget b
            where (b.scope = 'user' and b.name = ${owner} or b.scope = 'project' and b.name = ${project}
                   or b.scope = 'team' and b.name = ${team})
              and b.holds and b.month = to_char(${now}::timestamptz at time zone 'UTC', 'YYYY-MM')
              and b.spent_micro >= b.amount_micro)`

export async function overBudget(
  tx: Transaction,
  of: { owner: string; project: string; team: string | null; now: Date },
): Promise<boolean> {
  const { rows } = await tx.query<{ is_over: boolean }>({
    name: 'over_budget',
    text: `select ${isOverBudget({ owner: '$1', project: '$2', team: '$3', now: '$4' })} as is_over`,
    values: [of.owner, of.project, of.team, of.now],
  })
  return rows[0]?.is_over ?? false
}

/** Whether a team has a budget, which is removed before the team. */
export async function hasBudget(tx: Transaction, team: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from write.budget where scope = 'team' and name = $1`,
    [team],
  )
  return rowCount === 1
}
