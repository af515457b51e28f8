import { Type } from 'typebox'
import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { playgroundRoutes } from './playground.ts'
import { deploymentRoutes } from './routes.ts'
import { trafficRoutes } from './traffic/routes.ts'

const text = Type.String({ minLength: 1, maxLength: 128 })

export const deployments: Slice<Tables> = {
  name: 'deployments',
  routes: ({ reads, pool, now, captureDays, contents: { baseUrl } }) => [
    ...deploymentRoutes(reads, { pool, baseUrl, now, captureDays }),
    ...playgroundRoutes({ pool, baseUrl, now, captureDays }),
    ...trafficRoutes(reads, now),
  ],
  pages: [
    { path: '/deployments', summary: 'Deployments' },
    {
      path: '/deployments/{deployment_id}',
      summary: 'A deployment',
      params: Type.Object({ deployment_id: text }),
    },
    { path: '/playground', summary: 'Talk to models side by side' },
  ],
  examples: {
    queries: {
      'GET /api/deployments/{deployment_id}/traffic': { status: 200, limit: 20 },
      'GET /api/deployments/{deployment_id}/traffic/summary': { by: 'token' },
    },
  },
}
