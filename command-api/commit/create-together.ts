import type { HttpAsked } from './asked.ts'
import { answerWith, type CommitDeps } from './commit.ts'
import type { EventStore, Transaction } from './event-store.ts'
import { type Claim, claimOf, findAnswers, type Kept, keepAnswers, lockOf } from './idempotency.ts'
import { takeLocks } from './stream-locks.ts'

/** `position` is that of the created thing. */
export type Made<T> = { answer: T; position: string }

type Making<I, T> = (tx: Transaction, items: readonly I[], now: Date) => Promise<readonly Made<T>[]>

type Response = Kept & { isReplayed: boolean }

/**
 * `create` for several requests in one transaction, each with a fresh stream: all of them or none. `make` gets the requests
 * that do not repeat an earlier one, and returns the result of each, in their order. No two requests may have the same
 * `Idempotency-Key`.
 */
export async function createTogether<I extends { request: HttpAsked }, T>(
  { store, now }: CommitDeps,
  items: readonly I[],
  make: Making<I, T>,
): Promise<T[]> {
  const at = now()
  const claimed = new Map(items.map(item => [item, claimOf(item.request, at)]))
  const responses = await store.transaction(async tx => {
    const claims = [...claimed.values()].flatMap(claim => claim ?? [])
    await takeLocks(tx, claims.map(lockOf))
    const kept = await findAnswers(tx, claims)
    return new Map([
      ...repeats(claimed, kept),
      ...(await makeOthers(tx, { store, claimed, kept, now: at }, make)),
    ])
  })
  return items.map(item => {
    const response = responses.get(item)
    if (!response) throw new Error('nothing was made for a request')
    return answerWith<T>(item.request, response)
  })
}

type Claimed<I> = ReadonlyMap<I, Claim | null>
type KeptOnes = ReadonlyMap<string, Kept>

const keptFor = (claim: Claim | null, kept: KeptOnes) => claim && kept.get(lockOf(claim))

function repeats<I>(claimed: Claimed<I>, kept: KeptOnes): [I, Response][] {
  return [...claimed].flatMap(([item, claim]): [I, Response][] => {
    const answer = keptFor(claim, kept)
    return answer ? [[item, { ...answer, isReplayed: true }]] : []
  })
}

type Fresh<I> = { store: EventStore; claimed: Claimed<I>; kept: KeptOnes; now: Date }

async function makeOthers<I, T>(
  tx: Transaction,
  { store, claimed, kept, now }: Fresh<I>,
  make: Making<I, T>,
): Promise<[I, Response][]> {
  const fresh = [...claimed].filter(([, claim]) => !keptFor(claim, kept))
  if (fresh.length === 0) return []
  const made = await make(
    tx,
    fresh.map(([item]) => item),
    now,
  )
  const answers = fresh.map(([item, claim], index) => {
    const answer = made[index]
    if (!answer) throw new Error('nothing was made of a request')
    return { item, claim, answer }
  })
  await keepAnswers(
    store,
    tx,
    answers.flatMap(({ claim, answer }) => (claim ? [{ claim, answer }] : [])),
  )
  return answers.map(({ item, answer }) => [item, { ...answer, isReplayed: false }])
}
