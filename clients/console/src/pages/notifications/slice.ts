import type { Slice } from '../slice.ts'

export const notifications = {
  name: 'notifications',
  pages: { '/notifications': () => import('./page.tsx') },
  place: { to: '/notifications', nth: 7, title: ['Notifications', '通知'], key: 'n' },
} as const satisfies Slice
