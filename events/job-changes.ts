import { Type } from 'typebox'
import { event } from './event.ts'
import { subject } from './job-subject.ts'
import { marksOf } from './words.ts'

/** The job has another priority from now on, `before` until now. A job that waits moves in the queue. */
export const jobPriorityChanged = event(
  'job.priority_changed',
  Type.Object({ ...subject, priority: Type.Integer(), before: Type.Integer() }),
  ({ short_id, priority, before }, who) =>
    `${who} changed the priority of job ${short_id} from ${before} to ${priority}`,
)

export const jobRenamed = event(
  'job.renamed',
  Type.Object({ ...subject, name: Type.String() }),
  ({ short_id, name }, who) => `${who} renamed job ${short_id} to ${name}`,
)

/** Replaces all tags of the job. */
export const jobTagged = event(
  'job.tagged',
  Type.Object({ ...subject, tags: Type.Array(Type.String()) }),
  ({ short_id, tags }, who) =>
    tags.length === 0
      ? `${who} removed all tags from job ${short_id}`
      : `${who} tagged job ${short_id}: ${tags.join(', ')}`,
)

export const jobNoted = event(
  'job.noted',
  Type.Object({ ...subject, notes: Type.String() }),
  ({ short_id }, who) => `${who} rewrote the notes on job ${short_id}`,
)

/** Archived jobs are out of the way in lists, but keep everything they have. */
export const jobMarked = event(
  'job.marked',
  Type.Object({ ...subject, starred: Type.Boolean(), archived: Type.Boolean() }),
  ({ short_id, ...marks }, who) => `${who} marked job ${short_id} as ${marksOf(marks)}`,
)
