import type { Event, Stream } from '../../events/event.ts'
import type { Cause } from '../commit/asked.ts'
import { type CommitDeps, type Decision, transact, type Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'

/** One change in the outcome of a duty or follower. */
export type Change = {
  /** Locked before the first write; null if no stream changes. */
  stream: string | null
  make: (work: Work) => Promise<unknown>
}

/** Recorded in the transaction that closes the duty or moves the checkpoint; may be empty. */
export type Outcome = readonly Change[]
export const nothing: Outcome = []

/** Decides like a command, on the state after the effect rather than before it. */
export const decided = <S, E extends Event>(
  target: Stream<S, E>,
  decision: Decision<S, E>,
): Change => ({ stream: target.stream, make: work => work.decide(target, decision) })

/** Changes rows without an event. */
export const rows = (write: (tx: Transaction, now: Date) => Promise<unknown>): Change => ({
  stream: null,
  make: ({ tx, now }) => write(tx, now),
})

export type Recording = {
  outcome: Outcome
  /** Runs before any other write; if it returns true, nothing is recorded. */
  unless: (tx: Transaction) => Promise<boolean>
}

/** Commits an outcome as a whole; returns false if `unless` prevented it. */
export async function record(
  deps: Pick<CommitDeps, 'store' | 'now'>,
  cause: Cause,
  { outcome, unless }: Recording,
): Promise<boolean> {
  const { result } = await transact(deps, cause, {
    target: { stream: `what ${cause.actor.id} leaves behind`, isFresh: true },
    locks: outcome.flatMap(({ stream }) => stream ?? []),
    async make(work) {
      if (await unless(work.tx)) return false
      for (const change of outcome) await change.make(work)
      return true
    },
  })
  return result
}
