import type { Slice } from '../slice.ts'

export const models = {
  name: 'models',
  pages: {
    '/models': () => import('./list-page.tsx'),
    '/models/$model': () => import('./page.tsx'),
  },
  place: {
    to: '/models',
    nth: 5.1,
    title: ['Models', '模型'],
    isInHeader: true,
    group: 'models',
    key: 'm',
  },
} as const satisfies Slice
