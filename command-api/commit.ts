import type { Actor, Event, Stamped, Stream } from '../events/event.ts'
import { streamPosition } from '../platform/position.ts'
import { Refusal } from '../platform/refusal.ts'
import { type Asked, answerPosition, stampOf } from './asked.ts'
import type { Deps } from './deps.ts'
import { ConcurrentWrite, type EventStore, type Stamp, type Transaction } from './event-store.ts'
import { claimOf, findAnswer, keepAnswer, lockOf } from './idempotency-key.ts'
import { keepSnapshot, loadState } from './snapshots.ts'
import { takeLocks } from './stream-locks.ts'

/** A stream whose name was made up for this command: nobody else can know it, so nothing is locked or loaded. */
export type Fresh<S, E extends Event> = Stream<S, E> & { isFresh: true }
export const fresh = <S, E extends Event>(stream: Stream<S, E>): Fresh<S, E> => ({
  ...stream,
  isFresh: true,
})

export type CommitDeps = Pick<Deps, 'store' | 'now' | 'recentWrites'>

export type Decided<S, E extends Event> = {
  /** What it was decided on. */
  before: S
  events: E[]
  /** The state after the events. */
  state: S
  /** When they occurred, and who caused them. */
  now: Date
  actor: Actor
}

export type Decision<S, E extends Event> = {
  /** Pure; asked again where another writer came first. No events: nothing is to change. */
  decide: (state: S, now: Date) => E[]
  /** The rows that change with the events, in their transaction; refuses by throwing. Not asked where there are none. */
  alongside?: (tx: Transaction, decided: Decided<S, E>) => Promise<unknown>
}

export type Command<S, E extends Event> = Decision<S, E> & {
  /** Names beside the stream's own, whose holders must wait for each other. */
  locks?: readonly string[]
}

/**
 * Carries out one command on one stream: locks it, folds it, decides, and commits the events with the rows that
 * belong to them; decides again, three times in all, where another writer came first. Where a request asked for
 * it, the answer says in `Forge-Position` where the write stands, and the caller's next reads wait for it.
 *
 * Not within another transaction (the event store refuses it): what that one holds, this one would wait for.
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
  if (position !== null) answerPosition(deps, asked, position)
  return result
}

export type Creation<T> = {
  /** Every further stream that `make` may append to, and other names whose holders must wait for each other. */
  locks?: readonly string[]
  make: (work: Work) => Promise<T>
}

/** The transaction in which something is created. */
export type Work = {
  tx: Transaction
  now: Date
  /** Of a stream that was declared, or is fresh. */
  decide<S, E extends Event>(
    stream: Stream<S, E> | Fresh<S, E>,
    decision: Decision<S, E>,
  ): Promise<Decided<S, E>>
}

/**
 * Creates something that may span streams, in one transaction, and returns what `make` does. An HTTP request's
 * `Idempotency-Key` makes it once for each person and route: the same key and body get the first answer again,
 * without its secrets; another body is 409. What is created and the answer commit together, so a crash leaves
 * either all of it or nothing, and a second request with the key waits for the first.
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
      const kept = claim && (await findAnswer(work.tx, claim))
      if (kept) return { ...kept, isReplayed: true }
      const answer = await make(work)
      const position = work.position()
      if (claim) await keepAnswer(work.tx, claim, { answer, position })
      return { answer, position, isReplayed: false }
    },
  })
  const { answer, position, isReplayed } = made.result
  if (isReplayed && 'ctx' in asked) asked.ctx.set('Idempotency-Replayed', 'true')
  if (position !== null) answerPosition(deps, asked, position)
  return answer as T
}

export type Transacted<T> = {
  /** Locked, unless it is fresh. */
  target: { stream: string; isFresh?: true }
  locks: readonly string[]
  make: (work: OpenWork) => Promise<T>
}

/** `position`: of the target, once it was decided on. */
export type OpenWork = Work & { position: () => string | null }

const attempts = 3

/** Locks, makes and commits; made again, three times in all, where another writer came first. */
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

/** SQLSTATE: a lock was not had in time; two transactions waited for each other. */
const lockNotAvailable = '55P03'
const deadlockDetected = '40P01'

/** Returns where the same may succeed now. */
function refuseUnlessOutrun(error: unknown, stream: string, attempt: number): void {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === lockNotAvailable)
    throw new Refusal('unavailable', `${stream} is being changed by others; try again`, {
      retryAfterSeconds: 1,
      cause: error,
    })
  if (!(error instanceof ConcurrentWrite) && code !== deadlockDetected) throw error
  if (attempt === attempts)
    throw new Refusal('conflict', `${stream} was changed by others at the same time; try again`)
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
        throw new Error(`${stream} is to be declared, so that it is locked before the first write`)
      const loaded = isFresh
        ? { state: aggregate.initial, version: 0, read: 0 }
        : await loadState(store, tx, of)
      const events = decide(loaded.state, stamp.now)
      const decided = {
        before: loaded.state,
        events,
        state: events.map(event => stamped(event, stamp)).reduce(aggregate.evolve, loaded.state),
        now: stamp.now,
        actor: stamp.actor,
      }
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

const stamped = <E extends Event>(event: E, { now, actor }: Stamp): Stamped<E> => ({
  ...event,
  occurred_at: now.toISOString(),
  actor,
})
