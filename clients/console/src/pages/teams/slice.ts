import type { Slice } from '../slice.ts'

export const teams = {
  name: 'teams',
  pages: {
    '/teams': () => import('./page.tsx'),
    '/teams/$name': () => import('./team.tsx'),
  },
  place: {
    to: '/teams',
    nth: 6.5,
    title: ['Teams', '团队'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
