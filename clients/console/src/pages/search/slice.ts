import type { Slice } from '../slice.ts'

export const search = {
  name: 'search',
  pages: { '/search': () => import('./page.tsx') },
  place: { to: '/search', nth: 11.5, title: ['Search', '搜索'] },
} as const satisfies Slice
