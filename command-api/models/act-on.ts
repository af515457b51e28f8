import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Asking } from '../rules/access.ts'
import { findModel } from '../rules/model-reference.ts'

/** `mayControl`: change its settings, delete it, move its protected aliases; `mayConfigure`: as maintainers of its project. */
export type ModelToActOn = {
  project: string
  owner: string
  mayControl: boolean
  mayConfigure: boolean
}

/**
 * The model, if the caller may act on it: `submit`, as for runs of its project; `control`, its owner, maintainers and
 * admins. Mere readers get 403; to all others it looks missing.
 */
export async function modelToActOn(
  pool: Pool | Transaction,
  { model, caller, action }: { model: string; caller: Asking; action: 'submit' | 'control' },
): Promise<ModelToActOn> {
  const found = await findModel(pool, model, caller)
  if (!found) throw new Refusal('not_found', `No such model: ${model}`)
  const { project, owner, may } = found
  const mayControl = may('control')
  if (!mayControl && (action === 'control' || !may('submit')))
    throw new Refusal(
      'forbidden',
      action === 'control'
        ? `Only ${owner}, maintainers of project ${project} and admins may do that to the model ${model}`
        : `Only members of project ${project} may write to the model ${model}`,
    )
  return { project, owner, mayControl, mayConfigure: may('configure') }
}
