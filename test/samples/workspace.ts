import type { Sample } from './sample.ts'

/** What a project shows of its runs together, whose rows other samples make. */
export const workspaceSample: Sample = {
  slice: 'workspace',
  make: async () => ({ fields: { metric: 'loss:last' } }),
}
