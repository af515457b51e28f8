import type { Transaction } from '../commit/event-store.ts'
import type { Thing } from '../kind.ts'

/**
 * Whether a thing is there. If so, its deletion, which locks its row as well, waits for this transaction and then sees the use
 * that begins in it; so every slice calls this before it begins to use a thing that may be deleted.
 */
export async function holdResource(tx: Transaction, { kind, id }: Thing): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'hold_resource',
    text: 'select from write.resource where kind = $1 and id = $2 and deleted_at is null for share',
    values: [kind, id],
  })
  return rowCount === 1
}
