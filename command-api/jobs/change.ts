import { type JobEvent, jobStream } from '../../events/jobs.ts'
import type { EventStore, Stamp, Transaction } from '../event-store.ts'
import { type Aggregate, type Handled, handle } from '../handle.ts'
import { evolve, type Job, noJob } from './job.ts'
import { saveJob } from './rows.ts'

export const jobAggregate: Aggregate<Job, JobEvent> = { initial: noJob, evolve }

export type Change = {
  run_id: string
  stamp: Stamp
  /** Takes what the decision needs beyond the job, in the same transaction. */
  reserve?: (tx: Transaction, decided: readonly JobEvent[]) => Promise<void>
}

/** Decides on a job's events, and keeps its rows in step with them. */
export const changeJob = (
  store: EventStore,
  { run_id, stamp, reserve }: Change,
  decide: (job: Job) => JobEvent[],
): Promise<Handled<Job, JobEvent>> =>
  handle(
    store,
    {
      stream: jobStream(run_id),
      aggregate: jobAggregate,
      stamp,
      async reserve(tx, decided, before) {
        await reserve?.(tx, decided)
        await saveJob(tx, jobAfter(before, decided, stamp), decided, stamp.now)
      },
    },
    decide,
  )

/** The state after events that are about to be appended. */
export const jobAfter = (job: Job, events: readonly JobEvent[], { now, actor }: Stamp): Job =>
  events.reduce(
    (state, event) => evolve(state, { ...event, occurred_at: now.toISOString(), actor }),
    job,
  )
