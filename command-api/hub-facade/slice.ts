import type { Slice } from '../slice.ts'
import { hubBodies } from './examples.ts'
import type { HubPorts } from './ports.ts'
import { hubRoutes } from './routes.ts'

export const hubFacade: Slice<{ ofHub: HubPorts }> = {
  name: 'hub-facade',
  routes: (deps, { ofHub }) => hubRoutes(deps, ofHub),
  kind: null,
  examples: {
    paths: {
      'datasets.repo': 'gsm8k-clean.git',
      'revision.revision': 'v1',
      'tree.revision': 'main',
      'tree.path': 'train',
      'resolve.revision': 'v1',
      'resolve.path': 'train.jsonl',
      'paths-info.revision': 'main',
      'preupload.revision': 'main',
      'commit.revision': 'main',
      'hub.model': 'house-model',
      'hub.owner': 'ada',
      'hub.name': 'house-model',
      'hub.repo': 'house-model.git',
      'models.owner': 'ada',
      'models.name': 'math-tutor',
    },
    bodies: hubBodies,
  },
}
