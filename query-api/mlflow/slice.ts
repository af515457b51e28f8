import type { Slice } from '../slice.ts'
import { mlflowRoutes } from './routes.ts'
import type { Tables } from './scope.ts'

export const mlflow: Slice<Tables> = {
  name: 'mlflow',
  routes: mlflowRoutes,
}
