import type { Sample } from './sample.ts'

export const pageSample: Sample = {
  slice: 'pages',
  make: async () => ({ nouns: { assets: { file: 'run.js' } } }),
  missing: () => ({ nouns: { assets: { file: 'nothing.js' } } }),
}
