import type { Sample } from './sample.ts'

export const quotaSample: Sample = {
  slice: 'quotas',
  make: async ({ owner, friend }) => ({
    nouns: { quotas: { username: owner.username } },
    fields: { username: friend },
  }),
  missing: (_, whose) => ({ nouns: { quotas: { username: whose } } }),
  tables: { quotas: { seenBy: 'owner alone' } },
}
