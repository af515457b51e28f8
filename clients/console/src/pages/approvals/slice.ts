import type { Slice } from '../slice.ts'

export const approvals = {
  name: 'approvals',
  pages: {
    '/approvals': () => import('./page.tsx'),
    '/approvals/$approval_id': () => import('./approval.tsx'),
  },
  place: {
    to: '/approvals',
    nth: 6.7,
    title: ['Approvals', '审批'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
