import type { Slice } from '../slice.ts'

export const runs = {
  name: 'runs',
  pages: { '/runs': () => import('./page.tsx') },
  place: { to: '/runs', nth: 2, title: ['Runs', '运行'], isInHeader: true, key: 'r' },
} as const satisfies Slice
