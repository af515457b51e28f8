import { volumePath } from '../../schemas/volumes.ts'
import type { Slice } from '../slice.ts'
import { fileRoutes } from './files.ts'
import { type Tables, volumeRoutes } from './routes.ts'

export const volumes: Slice<Tables> = {
  name: 'volumes',
  routes: ({ reads, volumes: folders }) => [
    ...volumeRoutes(reads),
    ...fileRoutes({ reads, folders }),
  ],
  pages: [
    { path: '/volumes', summary: 'Volumes' },
    { path: '/volumes/{volume_id}', summary: 'A volume', params: volumePath },
  ],
  examples: {
    queries: {
      'GET /api/volumes/{volume_id}/files': { path: 'logs' },
      'GET /api/volumes/{volume_id}/content': { path: 'logs/train.jsonl' },
    },
  },
}
