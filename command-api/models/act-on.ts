import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import { judge, type ProjectFacts, rolesIn } from '../access.ts'
import { projectFacts } from '../short-id.ts'

type Row = { project: string; owner: string; known: ProjectFacts }

/** `mayControl`: change its settings, delete it, move its protected aliases. */
export type ModelToActOn = { project: string; mayControl: boolean }

/**
 * The model, if the caller may act on it: `submit`, as for runs of its project; `control`, its owner, maintainers and
 * admins. Who may only read it gets 403; to all others it looks missing.
 */
export async function modelToActOn(
  pool: Pool,
  { model, caller, action }: { model: string; caller: Person; action: 'submit' | 'control' },
): Promise<ModelToActOn> {
  const { rows } = await pool.query<Row>({
    name: 'model_to_act_on',
    text: `select m.project, m.owner, ${projectFacts('$2')} as known
             from write.model m join write.project p on p.name = m.project
            where m.name = $1 and m.deleted_at is null`,
    values: [model, caller.username],
  })
  const [row] = rows
  const roles = row ? rolesIn(row.known, caller, row) : []
  if (!row || judge(roles, 'read') !== 'permitted')
    throw new Refusal('not_found', `No such model: ${model}`)
  const mayControl = judge(roles, 'control') === 'permitted'
  if (!mayControl && (action === 'control' || judge(roles, 'submit') !== 'permitted'))
    throw new Refusal(
      'forbidden',
      action === 'control'
        ? `Only ${row.owner}, maintainers of project ${row.project} and admins may do that to the model ${model}`
        : `Only members of project ${row.project} may write to the model ${model}`,
    )
  return { project: row.project, mayControl }
}
