import type { Slice } from '../slice.ts'

export const diagnoses = {
  name: 'diagnoses',
  pages: { '/diagnoses': () => import('./page.tsx') },
  place: { to: '/diagnoses', nth: 4.5, title: ['Failures', '失败'], isInHeader: true, key: 'f' },
} as const satisfies Slice
