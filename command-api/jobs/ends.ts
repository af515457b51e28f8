import type { Job } from '../../events/job-state.ts'
import type { endReasons, JobEvent } from '../../events/jobs.ts'

type End = {
  reason: (typeof endReasons)[number]
  message: string | null
  exit_code: number | null
  at: string
}

const endOf = (job: Job, { reason, message, exit_code, at }: End) => ({
  ...job.subject,
  attempt: job.attempt,
  reason,
  message,
  exit_code: exit_code ?? job.exit?.exit_code ?? null,
  ended_at: at,
})

export const succeeded = (job: Job, end: End): JobEvent => ({
  type: 'job.succeeded',
  data: endOf(job, end),
})

export const failed = (job: Job, end: End): JobEvent => ({
  type: 'job.failed',
  data: endOf(job, end),
})

export const stopped = (
  job: Job,
  request: { reason: 'user' | 'limit' | 'refused'; message: string | null },
  at: string,
): JobEvent => ({ type: 'job.stopped', data: endOf(job, { ...request, exit_code: null, at }) })
