import type { Person } from '../../auth/caller.ts'
import { annotationAt } from '../../events/annotations.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create, transact, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { exportQueue } from './decide.ts'
import { exportedRows } from './export-rows.ts'
import { queueFor, refuseUnlessShown } from './find.ts'
import { answeredItems } from './rows.ts'

export type DatasetMaker = {
  /** Keeps the rows as a registered file of the caller. */
  store(request: HttpAsked & { caller: Person }, rows: readonly object[]): Promise<string>
  /** The streams that `push` appends to. */
  locks(dataset: string): string[]
  /** Refuses datasets that the caller may not write. */
  push(
    work: Work,
    made: {
      dataset: string
      upload_id: string
      kind: 'preference' | 'chat' | 'text'
      parents: string[]
      caller: Person
    },
  ): Promise<{ ref: string; created: boolean }>
}

type Request = HttpAsked & {
  caller: Person
  params: { queue_id: string }
  body: { dataset: string }
}

/** The rows are stored first; a file that no version names is deleted in time. */
export async function exportAnnotation(deps: Deps, maker: DatasetMaker, request: Request) {
  const { caller, params, body } = request
  const { queue_id } = params
  const queue = await queueFor(deps.pool, { queue_id, caller, action: 'manage' })
  const target = annotationAt(queue_id)
  const { result: items } = await transact(deps, request, {
    target,
    locks: [],
    async make({ tx }) {
      await refuseUnlessShown(tx, queue, caller)
      return answeredItems(tx, queue_id)
    },
  })
  const { kind, rows } = exportedRows(queue, items)
  if (rows.length === 0)
    throw new Refusal('conflict', 'The annotation queue has no answers to export', {
      code: 'annotation.nothing_to_export',
      hint: 'Ties and empty texts make no rows',
    })
  const upload_id = await maker.store(request, rows)
  const parents = queue.dataset === null ? [] : [queue.dataset]
  const { dataset } = body
  return create(deps, request, target, {
    locks: maker.locks(dataset),
    async make(work) {
      const { ref, created } = await maker.push(work, { dataset, upload_id, kind, parents, caller })
      await work.decide(target, {
        decide: state => exportQueue(state, { queue_id, ref, rows: rows.length }),
      })
      return { queue_id, ref, rows: rows.length, created }
    },
  })
}
