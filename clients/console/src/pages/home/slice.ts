import type { Slice } from '../slice.ts'

export const home = {
  name: 'home',
  pages: { '/': () => import('./page.tsx') },
  place: { to: '/', nth: 1, title: ['Home', '首页'], isInHeader: true, key: 'h' },
} as const satisfies Slice
