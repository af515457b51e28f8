import type { FindTemplate, ReplicaJobs } from '../command-api/deployments/ports.ts'
import type { Deps } from '../command-api/deps.ts'
import { stopReplica, submitReplica } from '../command-api/jobs/replica.ts'
import { openSubmits } from '../command-api/jobs/submit.ts'
import type { LiveCatalogue } from '../recipes/live-catalogue.ts'
import { findTemplate } from '../recipes/templates.ts'
import type { Core } from './core.ts'

/** Replicas are jobs, submitted through the same admission gates as people's jobs. */
export function replicaJobs({ catalogue, jobsChanged }: Core, deps: Deps): ReplicaJobs {
  const wake = () => jobsChanged.tell()
  return {
    submit: submitReplica(openSubmits(deps, { catalogue, wake })),
    stop: stopReplica(deps, () => {
      deps.queue.changed()
      wake()
    }),
  }
}

export const templatesIn =
  (catalogue: LiveCatalogue): FindTemplate =>
  async name =>
    findTemplate(await catalogue.all(), name)
