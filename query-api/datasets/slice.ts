import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { datasetRoutes } from './routes.ts'

export const datasets: Slice<Tables> = {
  name: 'datasets',
  routes: ({ reads, contents: { store } }) => datasetRoutes({ reads, store }),
}
