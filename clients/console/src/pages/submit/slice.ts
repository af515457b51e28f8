import type { Slice } from '../slice.ts'

export const submit = {
  name: 'submit',
  pages: { '/submit': () => import('./page.tsx') },
  place: {
    to: '/submit',
    nth: 5,
    title: ['Submit', '提交'],
    longTitle: ['Submit a job', '提交任务'],
    isInHeader: true,
    key: 's',
  },
} as const satisfies Slice
