import type { Sample } from './sample.ts'

/** Its routes read what other slices made. */
export const lineageSample: Sample = { slice: 'lineage' }
