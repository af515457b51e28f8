import type { Slice } from '../slice.ts'

export const compare = {
  name: 'compare',
  pages: { '/compare': () => import('./page.tsx') },
} as const satisfies Slice
