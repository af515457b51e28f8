import type { Sample } from './sample.ts'

export const profileSample: Sample = {
  slice: 'profiles',
  make: async () => ({ nouns: { profiles: { name: 'of-all' } } }),
  missing: (_, whose) => ({ nouns: { profiles: { name: `profile-of-${whose}` } } }),
  lists: { '/api/profiles': 'everybody' },
}
