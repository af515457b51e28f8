import { type Reflow, reflowAt } from '../../events/reflows.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { noSuchReflow } from './decide.ts'

/** A reflow of the caller, or anybody's for admins; to all others it looks missing. */
export async function reflowFor(
  { store }: Pick<Deps, 'store'>,
  reflow_id: string,
  caller: Asking,
): Promise<NonNullable<Reflow>> {
  const { state } = await loadState(store, undefined, reflowAt(reflow_id))
  if (!state || (state.owner !== caller.username && caller.role !== 'admin'))
    throw noSuchReflow(reflow_id)
  return state
}
