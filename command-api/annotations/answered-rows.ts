import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { type Exported, exportedRows } from './export-rows.ts'
import { queueFor, refuseUnlessShown } from './find.ts'
import { answeredItems } from './rows.ts'

/** The rows that an export would have, for people who may export. */
export async function answeredRows(
  { pool, store }: Pick<Deps, 'pool' | 'store'>,
  caller: Asking,
  queue_id: string,
): Promise<Exported> {
  const queue = await queueFor(pool, { queue_id, caller, action: 'manage' })
  return store.transaction(async tx => {
    await refuseUnlessShown(tx, queue, caller)
    return exportedRows(queue, await answeredItems(tx, queue_id))
  })
}
