import type { Slice } from '../slice.ts'
import { checkpointKeeper } from './keep-checkpoints.ts'
import { artifactKind } from './kind.ts'
import { artifactRemover } from './remove-files.ts'
import { type ArtifactUploads, artifactRoutes } from './routes.ts'
import { deleteArtifactsOf } from './rows.ts'
import { artifactVerifier } from './verify.ts'

export const artifacts: Slice<{ uploadsOfRuns: ArtifactUploads }> = {
  name: 'artifacts',
  routes: (deps, { uploadsOfRuns }) => artifactRoutes(deps, uploadsOfRuns),
  reactors: [artifactVerifier, checkpointKeeper, artifactRemover],
  deleteRowsOfRun: deleteArtifactsOf,
  kind: artifactKind,
  announces: {
    artifact: 'nothing',
  },
  tables: ['write.artifact'],
  examples: {
    paths: { 'artifacts.artifact_id': 'art_01J00000000000000000000000' },
    queries: {
      'GET /api/ingest/artifact/upload-url': {
        run_id: 'demo-1',
        kind: 'checkpoint',
        format: 'safetensors',
        filename: 'model.safetensors',
        size_bytes: 48_211,
        step: 150,
        sha256: '9f'.repeat(32),
        content_type: 'application/octet-stream',
        parts: 1,
      },
      'DELETE /api/artifacts/{artifact_id}': { dry_run: true },
    },
    bodies: {
      'POST /api/admin/retention': { dry_run: true, keep: { latest: 2 }, older_than_days: 90 },
      'POST /api/ingest/artifact': {
        run_id: 'demo-1',
        kind: 'checkpoint',
        path: '/data/demo/step-100.npz',
        format: 'npz',
        step: 100,
      },
    },
  },
}
