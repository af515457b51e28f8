import { type Approval, approvalsOf } from '../../events/approvals.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobAdmitted, JobEvent } from '../../events/jobs.ts'
import type { Work } from '../commit/commit.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { liveOf } from '../rules/approval-decisions.ts'
import { requestApprovals } from '../rules/approval-requests.ts'
import type { SubjectOfApproval } from '../rules/approval-subject.ts'
import { rulesFor } from './admission/approval.ts'
import type { AdmissionFacts } from './admission/facts.ts'
import { holdForApproval, outcomeOf, queue } from './decide.ts'
import { stopped } from './ends.ts'
import { saveJob } from './rows.ts'

const subjectOf = (run_id: string) => ({ type: 'job' as const, id: run_id })

/** Everything that decides what will run, and what the gates said about it. */
const contentOf = ({ run_id: _, name: _name, tags: _tags, notes: _notes, ...rest }: JobAdmitted) =>
  rest

/** Asks for the approvals that the new job waits for. */
export async function requestForJob(
  deps: Pick<Deps, 'newId'>,
  work: Work,
  { facts, admitted }: { facts: AdmissionFacts; admitted: JobAdmitted },
): Promise<void> {
  const rules = rulesFor(facts)
  if (rules.length === 0) return
  await requestApprovals(deps, work, {
    subject: subjectOf(admitted.run_id),
    title: `job ${admitted.short_id}`,
    requested_by: admitted.owner,
    content: contentOf(admitted),
    rules,
    isNew: true,
  })
}

/** The name to lock for a change of a job that may wait for an approval. */
export const approvalLock = (run_id: string): string => approvalsOf(subjectOf(run_id)).stream

/** A changed priority voids the approvals of a job that has not started: it waits for new ones. Null if it waits for none. */
export async function askAgain(
  deps: Pick<Deps, 'newId' | 'store'>,
  work: Work,
  { subject, state, priority }: Job,
): Promise<Job | null> {
  const { run_id } = subject
  if (state !== 'held' && state !== 'queued') return null
  const known = await loadState(deps.store, work.tx, approvalsOf(subjectOf(run_id)))
  const live = liveOf(known.state)
  const [first] = live
  if (!first || first.content.priority === priority) return null
  await requestApprovals(deps, work, {
    subject: subjectOf(run_id),
    title: first.title,
    requested_by: first.requested_by,
    content: { ...first.content, priority },
    rules: live.map(({ rule: name, who, expires_h }) => ({ name, who, expires_h })),
  })
  return (await work.decide(jobAt(run_id), { decide: holdForApproval, alongside: saveJob })).state
}

/** What decisions about approvals mean for jobs. */
export const approvedJobs = (deps: Pick<Deps, 'store'>): SubjectOfApproval => ({
  locks: ({ subject }) => [jobAt(subject.id).stream],

  async whyChanged({ tx }, { subject, content }) {
    const { state: job } = await loadState(deps.store, tx, jobAt(subject.id))
    if (job.state !== 'held') return `the job is ${job.state ?? 'gone'}`
    return job.priority === content.priority ? null : 'its priority changed'
  },

  async approved(work, { subject, content }) {
    await work.decide(jobAt(subject.id), {
      decide: (job, now) => release(job, content, now),
      alongside: saveJob,
    })
  },

  async refused(work, { subject }, message) {
    await work.decide(jobAt(subject.id), {
      decide: (job, now) =>
        job.state === 'held' && outcomeOf(job, 'stop') === 'stopped'
          ? [stopped(job, { reason: 'refused', message }, now.toISOString())]
          : [],
      alongside: saveJob,
    })
  },
})

/** It may still have to wait for its time. */
function release(job: Job, content: Approval['content'], now: Date): JobEvent[] {
  const { spec } = content as Pick<JobAdmitted, 'spec'>
  const until = spec.spec.scheduling.not_before
  if (until === null || Date.parse(until) <= now.getTime()) return queue(job, 'waiting_capacity')
  const data = {
    ...job.subject,
    reason: 'not_before' as const,
    until: new Date(until).toISOString(),
  }
  return [{ type: 'job.held', data }]
}
