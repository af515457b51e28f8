import type { Slice } from '../slice.ts'

export const deployments = {
  name: 'deployments',
  pages: {
    '/deployments': () => import('./list-page.tsx'),
    '/deployments/$deployment_id': () => import('./page.tsx'),
  },
  place: {
    to: '/deployments',
    nth: 5.2,
    title: ['Deployments', '部署'],
    isInHeader: true,
    group: 'models',
    key: 'd',
  },
} as const satisfies Slice
