import type { JobEvent } from '../../events/jobs.ts'
import { cloneLabel, retryLabel } from '../../schemas/jobs/jobspec.ts'
import { serveKind } from '../../schemas/recipes.ts'
import type { Kind, Thing, UseChange } from '../kind.ts'
import { importOf, usesOfModels } from '../rules/imported-models.ts'
import { reads, volumesOf, writes } from '../rules/volumes.ts'

/** The run of a job. */
export const jobKind: Kind = {
  name: 'run',
  resourceOf(event) {
    if (event.type !== 'job.admitted') return null
    const { run_id, short_id: name, owner, project } = event.data
    return { id: run_id, is: 'there', name, owner, project }
  },
  usesOf(event) {
    switch (event.type) {
      case 'job.admitted':
        return beginsFrom(event.data)
      // The attempt starts afresh unless a checkpoint is chosen next.
      case 'job.scheduled':
        return [ends(event.data.run_id, 'resume')]
      case 'job.checkpoint_chosen': {
        const { run_id, artifact_id } = event.data
        const used = { kind: 'artifact', id: artifact_id }
        return [ends(run_id, 'resume'), { begins: true, user: run(run_id), used, as: 'resume' }]
      }
      case 'job.succeeded':
      case 'job.failed':
      case 'job.stopped':
        return [
          ...['resume', 'package', 'team', ownCheckpoints, unfinished],
          ...[...usesOfModels, reads, writes],
        ].map(as => ends(event.data.run_id, as))
      default:
        return []
    }
  },
}

/** Until it ends a job may continue from the newest checkpoint of its run, whichever that is by then. */
const ownCheckpoints = 'checkpoints'

/** A job uses its datasets and RL environments even after its end, and in this way until then. */
const unfinished = 'unfinished'

const run = (id: string): Thing => ({ kind: 'run', id })
const ends = (run_id: string, as: string): UseChange => ({ begins: false, user: run(run_id), as })

type Admitted = Extract<JobEvent, { type: 'job.admitted' }>['data']

function beginsFrom({ run_id, kind, resolved, ...job }: Admitted): UseChange[] {
  const { spec } = job
  const { source } = spec.spec
  const { labels } = spec.metadata
  const used = {
    [ownCheckpoints]: run(run_id),
    // The job of an engine does not protect it: its deployment does, for as long as it serves it.
    init_from: kind === serveKind ? null : thing('artifact', resolved.init_from?.artifact_id),
    package: source.kind === 'package' ? thing('upload', source.upload_id) : null,
    team: thing('team', job.team),
    retry: thing('run', labels[retryLabel]),
    clone: thing('run', labels[cloneLabel]),
    // Until it ends, a job needs the models that were imported for it.
    ...Object.fromEntries(
      usesOfModels.map(use => [use, thing('hub_import', importOf(job, use)?.import_id)]),
    ),
  }
  const data = resolved.datasets.flatMap(({ ref }) =>
    ['dataset', unfinished].map(as => [as, { kind: 'dataset', id: ref }] as const),
  )
  const environments = spec.spec.environments.flatMap(({ ref }) =>
    ['environment', unfinished].map(as => [as, { kind: 'rl_environment', id: ref }] as const),
  )
  const volumes = volumesOf(job).map(
    ({ volume_id: id, read_only }) => [read_only ? reads : writes, { kind: 'volume', id }] as const,
  )
  return [...Object.entries(used), ...data, ...environments, ...volumes].flatMap(([as, one]) =>
    one ? [{ begins: true as const, user: run(run_id), used: one, as }] : [],
  )
}

const thing = (kind: string, id: string | null | undefined): Thing | null =>
  id ? { kind, id } : null
