import type { Slice } from '../slice.ts'

export const datasets = {
  name: 'datasets',
  pages: {
    '/datasets': () => import('./page.tsx'),
    '/datasets/$owner/$name': () => import('./dataset.tsx'),
  },
  place: {
    to: '/datasets',
    nth: 5.8,
    title: ['Datasets', '数据集'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
