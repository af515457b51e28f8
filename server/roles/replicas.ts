import type { FindTemplate, ReplicaJobs } from '../../command-api/deployments/ports.ts'
import type { Deps } from '../../command-api/deps.ts'
import { stopReplica, submitReplica } from '../../command-api/jobs/replica.ts'
import { openSubmits } from '../../command-api/jobs/submit.ts'
import type { LiveCatalogue } from '../../recipes/live-catalogue.ts'
import { findTemplate } from '../../recipes/templates.ts'
import type { Core } from '../core.ts'

/** Replicas are jobs, submitted through the same admission gates as people's jobs. */
export function replicaJobs({ catalogue }: Core, deps: Deps): ReplicaJobs {
  return {
    submit: submitReplica(openSubmits(deps, { catalogue })),
    stop: stopReplica(deps),
  }
}

export const templatesIn =
  (catalogue: LiveCatalogue): FindTemplate =>
  async name =>
    findTemplate(await catalogue.all(), name)
