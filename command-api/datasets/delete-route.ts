import { type Route, route } from '../../auth/route.ts'
import { type DatasetEvent, datasetAt, datasets } from '../../events/datasets.ts'
import {
  datasetDeletionQuery,
  datasetVersionDeleted,
  datasetVersionPath,
} from '../../schemas/datasets/datasets.ts'
import { datasetReference } from '../../schemas/datasets/reference.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import {
  holdForDeletion,
  refuseUsed,
  toNamed,
  type User,
  usersOf,
} from '../rules/users-of-thing.ts'
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
      const thing = { kind: 'dataset', id: ref }
      if (dry_run) {
        const { events } = await deps.store.load<DatasetEvent>(datasetAt(params).stream)
        deleteVersion(events.reduce(datasets.evolve, datasets.initial), params)
        const users = await usersOf(deps.pool, thing, caller)
        return { ref, deleted: false, would_break: users.flatMap(toNamed) }
      }
      let users: User<'run' | 'dataset'>[] = []
      await commit(deps, request, datasetAt(params), {
        decide: dataset => deleteVersion(dataset, params),
        async alongside(tx, decided) {
          users = await holdForDeletion(tx, thing, caller)
          refuseUsed(thing, users, { force, code: 'dataset.in_use' })
          await saveDataset(tx, decided)
        },
      })
      return { ref, deleted: true, would_break: users.flatMap(toNamed) }
    },
  })
