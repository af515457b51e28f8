import type { Sample } from './sample.ts'

export const projectionSample: Sample = {
  slice: 'projections',
  make: async () => ({ nouns: { projections: { name: 'decisions' } } }),
  missing: (_, whose) => ({ nouns: { projections: { name: `projection-of-${whose}` } } }),
}
