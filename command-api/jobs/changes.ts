import { isDeepStrictEqual } from 'node:util'
import type { Job } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isEnded } from '../../schemas/jobs/jobs.ts'
import { endedAlready } from './decide.ts'

/** The fields of a job that a person may change; absent ones keep their value. */
export type Change = {
  name?: string
  tags?: readonly string[]
  notes?: string
  starred?: boolean
  archived?: boolean
  priority?: number
}

/** The priority may be changed until the job has ended, everything else at any time. */
export function change(job: Job, wanted: Change): JobEvent[] {
  const { state, subject } = job
  if (state === null) throw new Refusal('not_found', `No such job: ${subject.run_id}`)
  const { priority = job.priority, ...words } = wanted
  if (priority === job.priority) return describe(job, words)
  if (isEnded(state)) throw endedAlready(job)
  const data = { ...subject, priority, before: job.priority }
  return [{ type: 'job.priority_changed', data }, ...describe(job, words)]
}

function describe(job: Job, words: Omit<Change, 'priority'>): JobEvent[] {
  const { subject } = job
  const { name = job.name, tags = job.tags, notes = job.notes } = words
  const { starred = job.starred, archived = job.archived } = words
  const events: JobEvent[] = []
  if (name !== job.name) events.push({ type: 'job.renamed', data: { ...subject, name } })
  if (!isDeepStrictEqual(tags, job.tags))
    events.push({ type: 'job.tagged', data: { ...subject, tags: [...tags] } })
  if (notes !== job.notes) events.push({ type: 'job.noted', data: { ...subject, notes } })
  if (starred !== job.starred || archived !== job.archived)
    events.push({ type: 'job.marked', data: { ...subject, starred, archived } })
  return events
}
