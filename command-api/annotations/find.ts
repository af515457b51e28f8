import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import { standsAtLeast } from '../../schemas/datasets/access.ts'
import { parseDatasetReference } from '../../schemas/datasets/reference.ts'
import type { Transaction } from '../commit/event-store.ts'
import { type Action, type Asking, judge, rolesIn } from '../rules/access.ts'
import { standingOn } from '../rules/dataset-access.ts'
import { holdResource } from '../rules/hold-resource.ts'
import { findProject } from '../rules/short-id.ts'
import { noSuchQueue } from './decide.ts'
import { findQueue, type QueueRow } from './rows.ts'

type Asked = { queue_id: string; caller: Asking; action: 'annotate' | 'manage' }

/**
 * The queue, if the caller may do this: members annotate; its owner, maintainers and admins manage. Mere readers of the project
 * get 403; to all others it looks missing.
 */
export async function queueFor(
  db: Pool | Transaction,
  { queue_id, caller, action }: Asked,
): Promise<QueueRow> {
  const queue = await findQueue(db, queue_id)
  const project = queue && (await findProject(db, queue.project, caller))
  if (!queue || !project) throw noSuchQueue(queue_id)
  const roles = rolesIn(project, caller)
  if (judge(roles, 'read') === 'hidden') throw noSuchQueue(queue_id)
  const needed: Action =
    action === 'annotate' || queue.owner === caller.username ? 'submit' : 'configure'
  if (judge(roles, needed) !== 'permitted')
    throw new Refusal(
      'forbidden',
      action === 'annotate'
        ? `Only members of project ${queue.project} may annotate`
        : `Only ${queue.owner}, maintainers of project ${queue.project} and admins may do that`,
    )
  return queue
}

/** Rows of a dataset are shown to people who may use it, in a queue as elsewhere; a deleted run is shown to nobody. */
export async function refuseUnlessShown(
  tx: Transaction,
  { runs, dataset }: QueueRow,
  caller: Asking,
): Promise<void> {
  for (const id of runs)
    if (!(await holdResource(tx, { kind: 'run', id })))
      throw new Refusal('conflict', 'The run whose samples this queue shows was deleted', {
        code: 'annotation.source_deleted',
      })
  const named = dataset === null ? null : parseDatasetReference(dataset)
  if (!named || standsAtLeast(await standingOn(tx, named, caller), 'use')) return
  throw new Refusal(
    'forbidden',
    'This queue shows rows of a dataset that you may not use; ask the owner of the queue',
    { code: 'annotation.source_forbidden' },
  )
}
