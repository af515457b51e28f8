import type { Slice } from '../slice.ts'

export const queue = {
  name: 'queue',
  pages: { '/queue': () => import('./page.tsx') },
  place: { to: '/queue', nth: 4, title: ['Queue', '队列'], isInHeader: true, key: 'q' },
} as const satisfies Slice
