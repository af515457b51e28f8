import type { JobEvent } from '../../events/jobs.ts'
import type { RecipeLock } from '../../schemas/recipes.ts'
import type { Announced, Slice } from '../slice.ts'
import { jobKind } from './kind.ts'
import type { JobPorts } from './ports.ts'
import { jobRoutes } from './routes.ts'
import { ruleKeeper } from './rule-consequences.ts'

const spec = (lock: RecipeLock | null) => ({
  api: 'forge/v2',
  metadata: { name: 'first', project: 'demo' },
  lock,
  spec: { params: { lr: 0.01 } },
})

export const jobs: Slice<JobPorts> = {
  name: 'jobs',
  routes: jobRoutes,
  reactors: [ruleKeeper],
  kind: jobKind,
  announces: {
    job: {
      'job.admitted': 'submit',
      'job.held': 'executor',
      'job.queued': 'executor',
      'job.resumed': 'queue',
      'job.pause_requested': 'queue',
      'job.stop_requested': 'queue',
      'job.priority_changed': 'queue',
      'job.paused': 'queue',
      'job.stopped': 'queue',
      'job.failed': 'executor',
      'job.succeeded': 'executor',
      'job.running': 'executor',
      // The executor itself decides these.
      'job.scheduled': 'none',
      'job.checkpoint_chosen': 'none',
      'job.placed': 'none',
      'job.starting': 'none',
      'job.preempted': 'none',
      'job.unreachable': 'none',
      'job.recovered': 'none',
      'job.retried': 'none',
      'job.exited': 'none',
      'job.repriced': 'none',
      'job.renamed': 'none',
      'job.tagged': 'none',
      'job.noted': 'none',
      'job.marked': 'none',
    } satisfies Announced<JobEvent>,
  },
  tables: [
    'write.engine',
    'write.fencing_token',
    'write.gpu_slot',
    'write.gpu_use',
    'write.job_state',
    'write.past_hold',
    'write.past_run',
    'write.past_wait',
    'write.quota_hold',
  ],
  examples: {
    paths: { 'jobs.run_id': 'demo-1' },
    queries: {
      'GET /api/ingest/artifact/content': {
        run_id: 'demo-1',
        artifact_id: 'art_01J00000000000000000000000',
      },
    },
    bodies: lock => ({
      'POST /api/jobs': spec(lock),
      'POST /api/jobs/preflight': spec(lock),
      'PATCH /api/jobs/{run_id}': { priority: 10, tags: ['baseline'] },
    }),
  },
}
