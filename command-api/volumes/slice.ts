import type { Slice } from '../slice.ts'
import { volumeKind } from './kind.ts'
import { volumeRoutes } from './routes.ts'
import { volumeCleaner, volumeMeasurer, volumeRemover, volumeSweeper } from './upkeep.ts'

export const volumes: Slice = {
  name: 'volumes',
  routes: volumeRoutes,
  reactors: [volumeMeasurer, volumeCleaner, volumeRemover, volumeSweeper],
  kind: volumeKind,
  announces: {
    volume: {
      'volume.created': 'none',
      'volume.grown': 'none',
      'volume.changed': 'none',
      'volume.measured': 'none',
      'volume.cleanup_announced': 'none',
      'volume.cleaned': 'none',
      'volume.snapshot_requested': 'none',
      // Jobs that write may wait for its end.
      'volume.snapshot_ready': 'executor',
      'volume.snapshot_failed': 'executor',
      'volume.deleted': 'none',
    },
  },
  tables: ['write.volume', 'write.volume_hold'],
  examples: {
    paths: { 'volumes.volume_id': 'vol_0123456789abcdef0123456789' },
    bodies: {
      'POST /api/volumes': { name: 'hub-cache', size_gb: 100, auto_cleanup_s: 604800 },
      'POST /api/volumes/{volume_id}/grow': { size_gb: 200 },
      'PATCH /api/volumes/{volume_id}': { read_only: true },
      'POST /api/volumes/{volume_id}/snapshots': { path: 'rows', dataset: 'alice/from-volume' },
    },
  },
}
