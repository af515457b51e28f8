import { type Route, route } from '../../auth/route.ts'
import { type Dataset, type DatasetEvent, datasetAt } from '../../events/datasets.ts'
import {
  datasetDeletionQuery,
  datasetVersionDeleted,
  datasetVersionPath,
} from '../../schemas/datasets/datasets.ts'
import { datasetReference } from '../../schemas/datasets/reference.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { deleteUnlessUsed } from '../rules/delete-version.ts'
import { deleteVersion } from '../rules/versions.ts'
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
      const { caller, params } = request
      await refuseUnlessWriter(deps.pool, params, caller)
      return deleteUnlessUsed<'run' | 'dataset', Dataset, DatasetEvent>(deps, request, {
        target: datasetAt(params),
        thing: { kind: 'dataset', id: datasetReference(params) },
        code: 'dataset.in_use',
        decide: dataset => deleteVersion('dataset', dataset, params),
        save: saveDataset,
      })
    },
  })
