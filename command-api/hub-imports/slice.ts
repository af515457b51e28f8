import type { Slice } from '../slice.ts'
import { contentRoute } from './content-route.ts'
import { importsOfJobs, modelImporter } from './import.ts'
import { hubImportKind } from './kind.ts'
import { hubImportRoutes } from './routes.ts'

export const hubImports: Slice = {
  name: 'hub-imports',
  routes: deps => [...hubImportRoutes(deps), contentRoute(deps)],
  reactors: [importsOfJobs, modelImporter],
  kind: hubImportKind,
  announces: {
    hub_import: {
      'hub.import_requested': 'none',
      'hub.import_listed': 'none',
      'hub.import_progressed': 'none',
      // Jobs wait for it.
      'hub.import_ready': 'executor',
      'hub.import_failed': 'executor',
      'hub.import_deleted': 'none',
    },
  },
  tables: ['write.hub_import', 'write.hub_file'],
  examples: {
    paths: { 'hub-imports.import_id': 'himp_0123456789abcdef0123456789' },
    queries: {
      'GET /api/ingest/model/content': {
        run_id: 'demo-1',
        hub_ref: 'hub:Qwen/Qwen3-8B@0123456789abcdef0123456789abcdef01234567',
        file: 'config.json',
      },
    },
    bodies: { 'POST /api/hub-imports': { ref: 'hub:Qwen/Qwen3-8B@main' } },
  },
}
