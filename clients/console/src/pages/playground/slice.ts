import type { Slice } from '../slice.ts'

export const playground = {
  name: 'playground',
  pages: { '/playground': () => import('./page.tsx') },
  place: {
    to: '/playground',
    nth: 5.3,
    title: ['Playground', '试用'],
    isInHeader: true,
    group: 'models',
  },
} as const satisfies Slice
