import type { Actor, Event, Fold, Stamped, Stream } from '../../events/event.ts'
import { streamPosition } from '../../platform/position.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import { type Asked, answerPosition, stampOf } from './asked.ts'
import { ConcurrentWrite, type EventStore, type Stamp, type Transaction } from './event-store.ts'
import { claimOf, findAnswers, type Kept, keepAnswers, lockOf } from './idempotency.ts'
import { keepSnapshot, loadState } from './snapshots.ts'
import { takeLocks } from './stream-locks.ts'

/** A stream with a new, random name: nobody else can know it, so nothing is locked or loaded. */
export type Fresh<S, E extends Event> = Stream<S, E> & { isFresh: true }
export const fresh = <S, E extends Event>(stream: Stream<S, E>): Fresh<S, E> => ({
  ...stream,
  isFresh: true,
})

export type CommitDeps = Pick<Deps, 'store' | 'now'>

export type Decided<S, E extends Event> = {
  /** The state before the events. */
  before: S
  events: E[]
  /** The state after the events. */
  state: S
  /** Time and cause of the events. */
  now: Date
  actor: Actor
}

export type Decision<S, E extends Event> = {
  /** Pure; called again if another writer came first. No events mean no change. */
  decide: (state: S, now: Date) => E[]
  /** Changes rows in the transaction of the events; refuses by throwing. Not called without events. */
  alongside?: (tx: Transaction, decided: Decided<S, E>) => Promise<unknown>
}

export type Command<S, E extends Event> = Decision<S, E> & {
  /** Further names to lock besides the stream. */
  locks?: readonly string[]
}

/**
 * Carries out one command on one stream: locks it, folds it, decides, and commits the events with the rows that
 * belong to them. Decides again, up to three times in all, if another writer came first. The response to a request
 * names the write in `Forge-Position`, and the caller's next reads wait for it.
 *
 * Must not be called inside another transaction (the event store refuses): it could wait for locks of the outer one.
 */
export async function commit<S, E extends Event>(
  deps: CommitDeps,
  asked: Asked,
  target: Stream<S, E>,
  { locks = [], ...decision }: Command<S, E>,
): Promise<Decided<S, E>> {
  const { result, position } = await transact(deps, asked, {
    target,
    locks,
    make: work => work.decide(target, decision),
  })
  if (position !== null) answerPosition(asked, position)
  return result
}

export type Creation<T> = {
  /** Every further stream that `make` may append to, and other names to lock. */
  locks?: readonly string[]
  make: (work: Work) => Promise<T>
}

/** The transaction in which something is created. */
export type Work = {
  tx: Transaction
  now: Date
  /** Accepts only fresh streams and those declared in `locks`. */
  decide<S, E extends Event>(
    stream: Stream<S, E> | Fresh<S, E>,
    decision: Decision<S, E>,
  ): Promise<Decided<S, E>>
}

/**
 * Creates something that may span streams, in one transaction, and returns the result of `make`. With an
 * `Idempotency-Key` this happens once per person and route: the same key and body get the first response again,
 * without its secrets; another body is 409. The creation and the response commit together, so a crash leaves all
 * or nothing, and a second request with the key waits for the first.
 */
export async function create<S, E extends Event, T>(
  deps: CommitDeps,
  asked: Asked,
  target: Stream<S, E> | Fresh<S, E>,
  { locks = [], make }: Creation<T>,
): Promise<T> {
  const claim = claimOf(asked, deps.now())
  const made = await transact(deps, asked, {
    target,
    locks: claim ? [...locks, lockOf(claim)] : locks,
    async make(work) {
      const kept = claim && (await findAnswers(work.tx, [claim])).get(lockOf(claim))
      if (kept) return { ...kept, isReplayed: true }
      const answer = await make(work)
      const position = work.position()
      if (claim) await keepAnswers(deps.store, work.tx, [{ claim, answer: { answer, position } }])
      return { answer, position, isReplayed: false }
    },
  })
  return answerWith<T>(asked, made.result)
}

/** Sets the headers of a creating request; returns the body of its response. */
export function answerWith<T>(
  asked: Asked,
  { answer, position, isReplayed }: Kept & { isReplayed: boolean },
): T {
  if (isReplayed && 'ctx' in asked) asked.ctx.set('Idempotency-Replayed', 'true')
  if (position !== null) answerPosition(asked, position)
  return answer as T
}

export type Transacted<T> = {
  /** Locked unless fresh. */
  target: { stream: string; isFresh?: true }
  locks: readonly string[]
  make: (work: OpenWork) => Promise<T>
}

/** `position` returns the position of the target; null before its decision. */
export type OpenWork = Work & { position: () => string | null }

const attempts = 3

/** Takes the locks, runs `make` and commits; retries up to three times in all if another writer came first. */
export async function transact<T>(
  deps: Pick<CommitDeps, 'store' | 'now'>,
  asked: Asked,
  { target, locks, make }: Transacted<T>,
): Promise<{ result: T; position: string | null }> {
  const stamp = stampOf(asked, deps.now())
  const names = 'isFresh' in target ? locks : [target.stream, ...locks]
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.store.transaction(async tx => {
        await takeLocks(tx, names)
        const work = workIn(deps.store, tx, { stamp, names, target: target.stream })
        return { result: await make(work), position: work.position() }
      })
    } catch (error) {
      refuseUnlessOutrun(error, target.stream, attempt)
    }
  }
}

/** SQLSTATEs of a lock timeout and of a deadlock. */
const lockNotAvailable = '55P03'
const deadlockDetected = '40P01'

/** Returns if a retry may succeed now; throws otherwise. */
function refuseUnlessOutrun(error: unknown, stream: string, attempt: number): void {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === lockNotAvailable)
    throw new Refusal('unavailable', `Other requests are changing ${stream}; try again`, {
      retryAfterSeconds: 1,
      cause: error,
    })
  if (!(error instanceof ConcurrentWrite) && code !== deadlockDetected) throw error
  if (attempt === attempts)
    throw new Refusal('conflict', `Another request changed ${stream} at the same time; try again`)
}

type Opened = { stamp: Stamp; names: readonly string[]; target: string }

function workIn(store: EventStore, tx: Transaction, { stamp, names, target }: Opened): OpenWork {
  let version: number | null = null
  return {
    tx,
    now: stamp.now,
    position: () => (version === null ? null : streamPosition(target, version)),
    async decide(of, { decide, alongside }) {
      const { stream, aggregate } = of
      const isFresh = 'isFresh' in of
      if (!isFresh && !names.includes(stream))
        throw new Error(`${stream} must be declared, so that it is locked before the first write`)
      const loaded = isFresh
        ? { state: aggregate.initial, version: 0, read: 0 }
        : await loadState(store, tx, of)
      const decided = decideOn(aggregate, loaded.state, { decide, stamp })
      const { events } = decided
      if (events.length > 0) {
        await alongside?.(tx, decided)
        await store.append(tx, { stream, expectedVersion: loaded.version, events, stamp })
      }
      await keepSnapshot(tx, of, loaded)
      if (stream === target) version = loaded.version + events.length
      return decided
    },
  }
}

/** The decision alone; nothing is stored. */
export function decideOn<S, E extends Event>(
  { evolve }: Pick<Fold<S, E>, 'evolve'>,
  before: S,
  { decide, stamp }: Pick<Decision<S, E>, 'decide'> & { stamp: Stamp },
): Decided<S, E> {
  const { now, actor } = stamp
  const events = decide(before, now)
  const state = events.map(event => stamped(event, stamp)).reduce(evolve, before)
  return { before, events, state, now, actor }
}

const stamped = <E extends Event>(event: E, { now, actor }: Stamp): Stamped<E> => ({
  ...event,
  occurred_at: now.toISOString(),
  actor,
})
