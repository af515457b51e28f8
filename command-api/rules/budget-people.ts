import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { BudgetScope } from '../../schemas/billing.ts'
import type { Transaction } from '../commit/event-store.ts'
import { type Asking, judge, rolesIn } from './access.ts'
import { projectFacts } from './short-id.ts'
import { refuseUnlessInTeam } from './teams.ts'

type Of = { scope: BudgetScope; name: string }

/** SQL: who is notified about budget `b`: its person, or the owners and maintainers of its project or team, 50 at most. */
export const peopleOfBudget = `case b.scope when 'user' then array[b.name] when 'team' then array(
  select m.username from write.team_member m where m.team = b.name and m.role in ('owner', 'maintainer') limit 50) else array(
  select p.owner from write.project p where p.name = b.name union
  select m.username from write.project_person m where m.project = b.name and m.role = 'maintainer' limit 50) end`

/**
 * Refuses people who may not set this budget: a person's is theirs, that of a project or a team is set by its owners and maintainers;
 * admins set all.
 * To people who may not see it, it looks missing.
 */
export async function refuseUnlessBudgetOf(
  db: Pool | Transaction,
  { scope, name }: Of,
  caller: Asking,
): Promise<void> {
  if (scope === 'team') return refuseUnlessInTeam(db, { team: name, caller, action: 'maintain' })
  const verdict = await (scope === 'user' ? ofUser(db, name, caller) : ofProject(db, name, caller))
  if (verdict === 'permitted') return
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      `Only its owner, maintainers and admins may change the budget of project ${name}`,
    )
  throw new Refusal('not_found', `No such ${scope}: ${name}`)
}

async function ofUser(db: Pool | Transaction, name: string, { username, role }: Asking) {
  if (role !== 'admin') return name === username ? 'permitted' : 'hidden'
  const { rowCount } = await db.query('select from auth.person where username = $1', [name])
  return rowCount === 0 ? 'hidden' : 'permitted'
}

async function ofProject(db: Pool | Transaction, name: string, caller: Asking) {
  const { rows } = await db.query(
    `select ${projectFacts('$2')} as known from write.project p where name = $1`,
    [name, caller.username],
  )
  return rows[0] ? judge(rolesIn(rows[0].known, caller), 'configure') : 'hidden'
}
