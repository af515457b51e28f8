import { datasetPath } from '../../schemas/datasets/datasets.ts'
import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { datasetRoutes } from './routes.ts'

export const datasets: Slice<Tables> = {
  name: 'datasets',
  routes: ({ reads, contents: { store }, volumeOfVersion }) =>
    datasetRoutes({ reads, store, volumeOfVersion }),
  pages: [
    { path: '/datasets', summary: 'Datasets' },
    { path: '/datasets/{owner}/{name}', summary: 'A dataset', params: datasetPath },
  ],
}
