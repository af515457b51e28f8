import type { Slice } from '../slice.ts'

export const rubrics = {
  name: 'rubrics',
  pages: {
    '/rubrics': () => import('./page.tsx'),
    '/rubrics/$owner/$name': () => import('./rubric.tsx'),
  },
  place: {
    to: '/rubrics',
    nth: 6,
    title: ['Rubrics', '评分标准'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
