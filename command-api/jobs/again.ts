import type { Job } from '../../events/job-state.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isEnded } from '../../schemas/jobs/jobs.ts'
import { cloneLabel, type JobSpec, retryLabel } from '../../schemas/jobs/jobspec.ts'
import type { Checkpoint } from './decide.ts'

/** The spec for another job like this one, with later changes by people, but without a hold or an approval. */
export function clone(
  { name, tags, priority, subject }: Job,
  { metadata, spec, ...rest }: JobSpec,
): JobSpec {
  const { [retryLabel]: _, ...labels } = metadata.labels
  return {
    ...rest,
    metadata: {
      ...metadata,
      name,
      tags: [...tags],
      labels: { ...labels, [cloneLabel]: subject.run_id },
    },
    spec: {
      ...spec,
      scheduling: { ...spec.scheduling, priority, not_before: null },
      approval: { plan_id: null },
    },
  }
}

export type Again = {
  spec: JobSpec
  /** The newest checkpoint of the job. */
  checkpoint: Checkpoint | null
  /** Values for the new job. */
  env: Record<string, string>
}

/** The spec of a job that continues where an ended one stopped. */
export function retry(job: Job, { spec: submitted, checkpoint, env }: Again): JobSpec {
  const { state, subject } = job
  if (state === null) throw new Refusal('not_found', `No such job: ${subject.run_id}`)
  if (!isEnded(state))
    throw new Refusal(
      'conflict',
      `Job is ${state}; only a job that has ended can be retried${state === 'paused' ? ': resume it instead' : ''}`,
      { code: `job.${state}` },
    )
  const { metadata, spec, ...rest } = clone(job, submitted)
  const { [cloneLabel]: _, ...labels } = metadata.labels
  // A successful job has nothing left to do after its last checkpoint, so the new one starts over.
  const continues = checkpoint !== null && spec.retry.resume !== 'none' && state !== 'succeeded'
  return {
    ...rest,
    metadata: { ...metadata, labels: { ...labels, [retryLabel]: subject.run_id } },
    spec: {
      ...spec,
      env: { ...spec.env, ...env },
      ...(continues && { init_from: continuing(checkpoint) }),
    },
  }
}

const continuing = ({ artifact_id }: Checkpoint): JobSpec['spec']['init_from'] => ({
  artifact_id,
  run_id: null,
  model: null,
  select: null,
  load: 'full_state',
})
