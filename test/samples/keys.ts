import type { Sample } from './sample.ts'

/** Its routes name nothing, store nothing and accept the smallest body. */
export const keySample: Sample = { slice: 'keys' }
