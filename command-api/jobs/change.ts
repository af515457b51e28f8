import { type Job, jobAt, jobs } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { EventStore, Stamp, Transaction } from '../event-store.ts'
import { type Handled, handle } from '../handle.ts'
import { saveJob } from './rows.ts'

export type Change = {
  run_id: string
  stamp: Stamp
  /** Reserves further resources in the same transaction. */
  reserve?: (tx: Transaction, decided: readonly JobEvent[]) => Promise<void>
}

/** Runs a decision on a job and updates its rows with the events. */
export const changeJob = (
  store: EventStore,
  { run_id, stamp, reserve }: Change,
  decide: (job: Job) => JobEvent[],
): Promise<Handled<Job, JobEvent>> =>
  handle(
    store,
    {
      ...jobAt(run_id),
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
    (state, event) => jobs.evolve(state, { ...event, occurred_at: now.toISOString(), actor }),
    job,
  )
