import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'

const topicsOf = (runId: unknown) => ({ topics: `job:${runId}` })

/** Streams follow the state of the job. */
export const streamSample: Sample = {
  slice: 'streams',
  make: async ({ made }) => ({ fields: topicsOf(made.nouns.jobs?.run_id) }),
  missing: ({ nouns }) => ({ fields: topicsOf(withoutOwner(nouns.jobs?.run_id)) }),
}
