import type { Slice } from '../slice.ts'
import { uploadReactor } from './delete-unused.ts'
import { uploadKind } from './kind.ts'
import { uploadRoutes } from './routes.ts'

/** The query of the address to which a file is sent. */
const address = {
  exp: '1796000000',
  len: '48211',
  sha256: '9f'.repeat(32),
  kid: '0a1b2c3d',
  sig: 'as POST /api/uploads returned it',
}

export const uploads: Slice = {
  name: 'uploads',
  routes: uploadRoutes,
  reactors: [uploadReactor],
  kind: uploadKind,
  announces: {
    upload: 'nothing',
  },
  unprojected: ['upload.requested', 'upload.completed'],
  tables: ['write.upload'],
  examples: {
    paths: { 'uploads.upload_id': 'upl_01J00000000000000000000000' },
    queries: {
      'PUT /api/uploads/{upload_id}': address,
      'POST /api/uploads/{upload_id}/parts': address,
    },
    bodies: {
      'POST /api/uploads': { purpose: 'package', filename: 'package.tar.gz', size_bytes: 48_211 },
    },
  },
}
