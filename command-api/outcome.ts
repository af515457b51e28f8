import type { Event, Stream } from '../events/event.ts'
import type { Cause } from './asked.ts'
import { type CommitDeps, type Decision, transact, type Work } from './commit.ts'
import type { Transaction } from './event-store.ts'

/** One change that an effect leaves behind. */
export type Change = {
  /** Locked before anything is written; null where no stream changes. */
  stream: string | null
  make: (work: Work) => Promise<unknown>
}

/** Recorded in the transaction that closes the duty or moves the checkpoint; empty where nothing is to be. */
export type Outcome = readonly Change[]
export const nothing: Outcome = []

/** Decides, as a command does, on what is there when the effect has ended and not on what was there before it. */
export const decided = <S, E extends Event>(
  target: Stream<S, E>,
  decision: Decision<S, E>,
): Change => ({ stream: target.stream, make: work => work.decide(target, decision) })

/** Rows alone, without an event. */
export const rows = (write: (tx: Transaction, now: Date) => Promise<unknown>): Change => ({
  stream: null,
  make: ({ tx, now }) => write(tx, now),
})

export type Recording = {
  outcome: Outcome
  /** The first to write; nothing is recorded where it returns true. */
  unless: (tx: Transaction) => Promise<boolean>
}

/** Commits an outcome as a whole; false where `unless` forbade it. */
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
