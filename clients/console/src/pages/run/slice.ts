import type { Slice } from '../slice.ts'

export const run = {
  name: 'run',
  pages: {
    '/runs/$run_id': () => import('./page.tsx'),
    '/runs/$run_id/$tab': () => import('./page.tsx'),
  },
} as const satisfies Slice
