import type { Slice } from '../slice.ts'

export const device = {
  name: 'device',
  pages: { '/device': () => import('./page.tsx') },
} as const satisfies Slice
