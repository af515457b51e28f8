import type { Slice } from '../slice.ts'
import { modelKind } from './kind.ts'
import { modelRegistrar } from './perform.ts'
import { modelRoutes } from './routes.ts'

export const models: Slice = {
  name: 'models',
  routes: modelRoutes,
  reactors: [modelRegistrar],
  kind: modelKind,
  announces: {
    model: 'nothing',
  },
  tables: ['write.model', 'write.model_alias', 'write.model_version'],
  examples: {
    paths: { 'models.model': 'math-tutor', 'versions.version': 1, 'aliases.alias': 'stable' },
    bodies: {
      'POST /api/models': { name: 'math-tutor', project: 'demo' },
      'PATCH /api/models/{model}': { protected_aliases: ['production', 'canary'] },
      'POST /api/models/{model}/versions': {
        artifact_id: 'art_01J00000000000000000000000',
        stage_notes: 'the best checkpoint of the long run',
      },
      'PATCH /api/models/{model}/versions/{version}': { stage_notes: 'checked by hand' },
      'PUT /api/models/{model}/aliases/{alias}': { version: 1, reason: 'best so far' },
    },
  },
}
