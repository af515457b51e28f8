import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'

const targetOf = (runId: unknown) => ({ target: `job:${runId}` })

/** Administrators request the history of the job. */
export const auditSample: Sample = {
  slice: 'audit',
  make: async ({ made }) => ({ fields: targetOf(made.nouns.jobs?.run_id) }),
  missing: ({ nouns }) => ({ fields: targetOf(withoutOwner(nouns.jobs?.run_id)) }),
}
