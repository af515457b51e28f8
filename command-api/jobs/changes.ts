import { isDeepStrictEqual } from 'node:util'
import type { Job } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isEnded } from '../../schemas/jobs/jobs.ts'
import { endedAlready } from './decide.ts'

/** The fields of a job that a person may change; absent ones keep their value. */
export type Change = { name?: string; tags?: readonly string[]; priority?: number }

/** Name and tags may be changed at any time, the priority until the job has ended. */
export function change(job: Job, { name, tags, priority }: Change): JobEvent[] {
  const { state, subject } = job
  if (state === null) throw new Refusal('not_found', `No such job: ${subject.run_id}`)
  const events: JobEvent[] = []
  if (priority !== undefined && priority !== job.priority) {
    if (isEnded(state)) throw endedAlready(job)
    const data = { ...subject, priority, before: job.priority }
    events.push({ type: 'job.priority_changed', data })
  }
  if (name !== undefined && name !== job.name)
    events.push({ type: 'job.renamed', data: { ...subject, name } })
  if (tags !== undefined && !isDeepStrictEqual(tags, job.tags))
    events.push({ type: 'job.tagged', data: { ...subject, tags: [...tags] } })
  return events
}
