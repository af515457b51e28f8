import type { Slice } from '../slice.ts'

export const reflows = {
  name: 'reflows',
  pages: {
    '/reflows': () => import('./page.tsx'),
    '/reflows/$reflow_id': () => import('./reflow.tsx'),
  },
  place: {
    to: '/reflows',
    nth: 6.1,
    title: ['Reflows', '回流'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
