import type { Slice } from '../slice.ts'

export const benchmarks = {
  name: 'benchmarks',
  pages: {
    '/benchmarks': () => import('./page.tsx'),
    '/benchmarks/$name': () => import('./board.tsx'),
  },
  place: {
    to: '/benchmarks',
    nth: 5.9,
    title: ['Benchmarks', '评测'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
