import type { Slice } from '../slice.ts'

export const hubImports = {
  name: 'hub-imports',
  pages: { '/hub-imports': () => import('./page.tsx') },
  place: {
    to: '/hub-imports',
    nth: 5.85,
    title: ['Model hub', '模型中心'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
