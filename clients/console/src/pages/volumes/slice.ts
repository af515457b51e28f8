import type { Slice } from '../slice.ts'

export const volumes = {
  name: 'volumes',
  pages: {
    '/volumes': () => import('./page.tsx'),
    '/volumes/$volume_id': () => import('./volume.tsx'),
  },
  place: {
    to: '/volumes',
    nth: 5.82,
    title: ['Volumes', '卷'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
