import type { Slice } from '../slice.ts'

export const usage = {
  name: 'usage',
  pages: { '/usage': () => import('./page.tsx') },
  place: { to: '/usage', nth: 6.5, title: ['Usage', '用量'], key: 'u' },
} as const satisfies Slice
