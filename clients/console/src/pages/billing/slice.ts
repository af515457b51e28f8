import type { Slice } from '../slice.ts'

export const billing = {
  name: 'billing',
  pages: { '/billing': () => import('./page.tsx') },
  place: {
    to: '/billing',
    nth: 6.6,
    title: ['Billing', '账单'],
    isInHeader: true,
    group: 'data',
    key: 'b',
  },
} as const satisfies Slice
