import type { Slice } from '../slice.ts'

export const plans = {
  name: 'plans',
  pages: {
    '/plans': () => import('./page.tsx'),
    '/plans/$plan_id': () => import('./plan.tsx'),
  },
  place: {
    to: '/plans',
    nth: 5.05,
    title: ['Plans', '计划'],
    isInHeader: true,
    group: 'models',
  },
} as const satisfies Slice
