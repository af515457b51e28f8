import type { Slice } from '../slice.ts'

export const settings = {
  name: 'settings',
  pages: { '/settings': () => import('./page.tsx') },
  place: { to: '/settings', nth: 9, title: ['Settings', '设置'] },
} as const satisfies Slice
