import type { Slice } from '../slice.ts'

export const rlEnvironments = {
  name: 'rl-environments',
  pages: {
    '/environments': () => import('./page.tsx'),
    '/environments/$owner/$name': () => import('./environment.tsx'),
  },
  place: {
    to: '/environments',
    nth: 5.86,
    title: ['Environments', 'RL 环境'],
    longTitle: ['RL environments', '强化学习环境'],
    isInHeader: true,
    group: 'data',
  },
} as const satisfies Slice
