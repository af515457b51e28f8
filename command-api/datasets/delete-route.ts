import type { Pool } from 'pg'
import { type Route, route } from '../../auth/route.ts'
import { type DatasetEvent, datasetAt, datasets } from '../../events/datasets.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  datasetDeletionQuery,
  datasetVersionDeleted,
  datasetVersionPath,
} from '../../schemas/datasets/datasets.ts'
import { datasetReference } from '../../schemas/datasets/reference.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { deleteVersion } from './decide.ts'
import { saveDataset } from './rows.ts'

export const deleteVersionRoute = (deps: Deps): Route =>
  route({
    method: 'DELETE',
    path: '/api/datasets/{owner}/{name}/versions/{version}',
    credential: 'person',
    reach: 'its_people',
    tag: 'datasets',
    summary: 'Delete a version, unless runs or other versions name it; with `dry_run`, list these',
    params: datasetVersionPath,
    query: datasetDeletionQuery,
    response: datasetVersionDeleted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, query } = request
      const { dry_run = false, force = false } = query
      await refuseUnlessWriter(deps.pool, params, caller)
      const ref = datasetReference(params)
      if (dry_run) {
        const { events } = await deps.store.load<DatasetEvent>(datasetAt(params).stream)
        deleteVersion(events.reduce(datasets.evolve, datasets.initial), params)
        const users = await usersOf(deps.pool, ref, caller)
        return { ref, deleted: false, would_break: users.flatMap(toNamed) }
      }
      let users: User[] = []
      await commit(deps, request, datasetAt(params), {
        decide: dataset => deleteVersion(dataset, params),
        async alongside(tx, decided) {
          await tx.query(
            `select from write.resource where kind = 'dataset' and id = $1 for update`,
            [ref],
          )
          users = await usersOf(tx, ref, caller)
          refuseUsed(ref, users, force)
          await saveDataset(tx, decided)
        },
      })
      return { ref, deleted: true, would_break: users.flatMap(toNamed) }
    },
  })

/** `is_unfinished`: a job that has not ended, and so still needs it. */
type User = {
  type: 'run' | 'dataset'
  id: string
  name: string
  may_read: boolean
  is_unfinished: boolean
}

const named = 100

/** Everything that names a version and still exists, unfinished jobs first; `write.use` has it of all slices. */
async function usersOf(
  db: Pool | Transaction,
  ref: string,
  { username, role }: { username: string; role: string },
): Promise<User[]> {
  const { rows } = await db.query<User>({
    name: 'users_of_dataset',
    text: `select u.user_kind as type, r.id, coalesce(r.name, r.id) as name,
                  write.may_read(r.owner, r.project, $3, $2) as may_read, bool_or(u.used_as = 'unfinished') as is_unfinished
             from write.use u join write.resource r on r.kind = u.user_kind and r.id = u.user_id
            where u.used_kind = 'dataset' and u.used_id = $1 and u.until is null and r.deleted_at is null
            group by u.user_kind, r.id, r.name, r.owner, r.project
            order by is_unfinished desc, may_read desc, u.user_kind, r.id limit $4`,
    values: [ref, role === 'admin', username, named],
  })
  return rows
}

const toNamed = ({ type, id, may_read }: User) => (may_read ? [{ type, id }] : [])

function refuseUsed(ref: string, users: readonly User[], force: boolean): void {
  const needing = force ? users.filter(one => one.is_unfinished) : users
  if (needing.length === 0) return
  const shown = needing.filter(one => one.may_read)
  const hidden = needing.length - shown.length
  const who = shown.map(({ name, is_unfinished }) => (is_unfinished ? `${name} (not ended)` : name))
  if (hidden > 0) who.push(`${hidden} more that you may not read`)
  throw new Refusal('conflict', `${ref} is in use by ${who.join(', ')}`, {
    code: 'dataset.in_use',
    data: { users: shown.map(({ type, id }) => ({ type, id })), hidden },
    hint: needing.some(one => one.is_unfinished)
      ? 'Stop these jobs first, or wait until they have ended'
      : 'With ?force=true it is deleted all the same; those runs can then not be repeated',
  })
}
