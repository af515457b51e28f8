import type { Sample } from './sample.ts'

export const userSample: Sample = {
  slice: 'users',
  make: async ({ owner }) => ({ nouns: { users: { username: owner.username } } }),
  missing: (_, whose) => ({ nouns: { users: { username: whose } } }),
  changes: {
    'POST /api/admin/users': { body: () => ({ username: 'newcomer', role: 'operator' }) },
    'PATCH /api/admin/users/{username}': { body: () => ({ display_name: 'The administrator' }) },
  },
}
