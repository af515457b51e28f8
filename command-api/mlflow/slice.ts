import type { Slice } from '../slice.ts'
import { mlflowBodies, mlflowQueries } from './examples.ts'
import { mlflowRoutes } from './routes.ts'
import type { MlflowPorts } from './target.ts'

export const mlflow: Slice<{ ofMlflow: MlflowPorts }> = {
  name: 'mlflow',
  routes: (deps, { ofMlflow }) => mlflowRoutes(deps, ofMlflow),
  kind: null,
  announces: {
    mlflow: 'nothing',
  },
  examples: {
    paths: { 'artifacts.run_id': 'demo-1', 'artifacts.path': 'plots/loss.png' },
    queries: mlflowQueries,
    bodies: mlflowBodies,
  },
}
