import type { Slice } from '../slice.ts'

export const annotations = {
  name: 'annotations',
  pages: {
    '/annotations': () => import('./page.tsx'),
    '/annotations/$queue_id': () => import('./queue.tsx'),
    '/annotations/$queue_id/work': () => import('./work.tsx'),
  },
  place: {
    to: '/annotations',
    nth: 6.2,
    title: ['Annotation', '标注'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
