import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { artifactRoutes } from './routes.ts'

export const artifacts: Slice<Tables> = {
  name: 'artifacts',
  routes: ({ contents, reads, now }) => artifactRoutes({ ...contents, reads, now }),
  examples: {
    paths: { 'downloads.artifact_id': 'art_01J00000000000000000000000' },
    queries: {
      'GET /api/downloads/{artifact_id}': {
        exp: '1796000000',
        sha256: '9f'.repeat(32),
        filename: 'model.safetensors',
        kid: '0a1b2c3d',
        sig: 'as GET /api/artifacts/{artifact_id}/download-url returned it',
      },
    },
  },
}
