import type { Slice } from '../slice.ts'

export const admin = {
  name: 'admin',
  pages: { '/admin': () => import('./page.tsx'), '/admin/$section': () => import('./page.tsx') },
  place: {
    to: '/admin',
    nth: 8,
    title: ['Admin', '管理'],
    longTitle: ['Administration', '管理'],
    isInHeader: true,
    parts: () => import('./parts.tsx'),
    isForAdmins: true,
    key: 'a',
  },
} as const satisfies Slice
