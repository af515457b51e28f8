import type { Slice } from '../slice.ts'
import { contentRoute } from './content-route.ts'
import { datasetKind } from './kind.ts'
import { datasetRoutes } from './routes.ts'
import { datasetValidator } from './validate.ts'

export const datasets: Slice = {
  name: 'datasets',
  routes: deps => [...datasetRoutes(deps), contentRoute(deps)],
  reactors: [datasetValidator],
  kind: datasetKind,
  announces: {
    dataset: 'nothing',
  },
  tables: ['write.dataset', 'write.dataset_grant', 'write.dataset_version'],
  examples: {
    paths: {
      'datasets.owner': 'ada',
      'datasets.name': 'gsm8k-clean',
      'grants.username': 'grace',
      'files.path': 'train.jsonl',
    },
    queries: {
      'GET /api/ingest/dataset/content': {
        ...{ run_id: 'demo-1', ref: 'ada/gsm8k-clean@1', file: 'train.jsonl' },
      },
    },
    bodies: {
      'POST /api/datasets/{owner}/{name}/versions': {
        files: [{ upload_id: 'upl_01J00000000000000000000000', name: 'train.jsonl' }],
        kind: 'chat',
        license: 'apache-2.0',
      },
      'PATCH /api/datasets/{owner}/{name}': { visibility: 'public', use: 'granted' },
      'PUT /api/datasets/{owner}/{name}/grants/{username}': { see: true, use: true },
      'POST /api/datasets/{owner}/{name}/versions/{version}/deprecate': {
        reason: 'rows 1 to 20 are broken',
      },
    },
  },
}
