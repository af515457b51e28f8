import type { Slice } from '../slice.ts'

export const projects = {
  name: 'projects',
  pages: {
    '/projects': () => import('./list-page.tsx'),
    '/projects/$name': () => import('./page.tsx'),
  },
  place: { to: '/projects', nth: 3, title: ['Projects', '项目'], isInHeader: true, key: 'p' },
} as const satisfies Slice
