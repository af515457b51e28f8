import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import { type Action, type Asking, judge, type ProjectFacts, rolesIn } from '../rules/access.ts'
import { projectFacts } from '../rules/short-id.ts'

type Row = { deployment_id: string; owner: string; known: ProjectFacts }

/**
 * The deployment, if the caller may act on it. Mere readers get 403; to all others it looks missing, as does a
 * deleted one.
 */
export async function deploymentToActOn(
  pool: Pool | Transaction,
  { asked, caller, action }: { asked: string; caller: Asking; action: Action },
): Promise<{ deployment_id: string; mayConfigure: boolean }> {
  const { rows } = await pool.query<Row>({
    name: 'deployment_to_act_on',
    text: `select d.deployment_id, d.owner, ${projectFacts('$2')} as known
             from write.deployment_state d join write.resource p on p.kind = 'project' and p.id = d.project
            where d.deployment_id = $1 and d.state <> 'deleted'`,
    values: [asked, caller.username],
  })
  const [row] = rows
  const roles = row ? rolesIn(row.known, caller, row) : []
  const verdict = judge(roles, action)
  if (!row || verdict === 'hidden') throw new Refusal('not_found', `No such deployment: ${asked}`)
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      `Only ${row.owner}, maintainers of its project and admins may act on this deployment`,
    )
  const mayConfigure = judge(roles, 'configure') === 'permitted'
  return { deployment_id: row.deployment_id, mayConfigure }
}
