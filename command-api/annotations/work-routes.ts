import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import {
  type AnnotationAnswerEvent,
  annotationAnswerAt,
  type GivenAnswer,
} from '../../events/annotation-answers.ts'
import { annotationAt } from '../../events/annotations.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  annotationClaim,
  annotationPath,
  answerBody,
  itemAnswered,
  itemBody,
  undoBody,
} from '../../schemas/annotations.ts'
import { toExactTimestamp, toTimestamp } from '../../schemas/timestamp.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create, transact, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { checkedAnswer } from './check-answer.ts'
import {
  type At,
  claimNext,
  countHeld,
  type Decided,
  findClaim,
  hasRoom,
  keepDraft,
  lastDecided,
  saveAnswer,
} from './claims.ts'
import {
  answerItem,
  type ItemOfPerson,
  leaseEnded,
  refuseUnlessOpen,
  skipItem,
  undoItem,
} from './decide.ts'
import { queueFor, refuseUnlessShown } from './find.ts'
import { findItem, findQueue, type ItemRow, type QueueRow } from './rows.ts'

const common = {
  method: 'POST',
  credential: 'person',
  reach: 'its_people',
  tag: 'annotations',
  params: annotationPath,
  refusals: ['forbidden', 'not_found', 'conflict'],
} as const

/** Routes by which people work through a queue. */
export const workRoutes = (deps: Deps): Route[] => [
  route({
    ...common,
    path: '/api/annotations/{queue_id}/claims',
    summary: 'Claim the next item for 15 minutes, or read the one that you have claimed',
    response: annotationClaim,
    handle: request => claim(deps, request),
  }),
  route({
    ...common,
    path: '/api/annotations/{queue_id}/answers',
    summary: 'Answer a claimed item; an answer after the claim has ended is kept as a draft',
    body: answerBody,
    bodyLimitBytes: 1024 * 1024,
    response: itemAnswered,
    async handle(request) {
      const { caller, params, body } = request
      const queue = await queueFor(deps.pool, { ...params, caller, action: 'annotate' })
      const answer = checkedAnswer(queue, body.answer)
      try {
        return await change(deps, request, queue, (given, { of, judge, ...standing }) =>
          answerItem(given, of, { ...standing, answer, judge }),
        )
      } catch (error) {
        if (error instanceof Refusal && error.extras.code === leaseEnded)
          await keepDraft(
            deps.pool,
            { ...params, username: caller.username },
            { item: body.item, answer },
          )
        throw error
      }
    },
  }),
  route({
    ...common,
    path: '/api/annotations/{queue_id}/skips',
    summary: 'Leave a claimed item to others',
    body: itemBody,
    response: itemAnswered,
    async handle(request) {
      const { caller, params } = request
      const queue = await queueFor(deps.pool, { ...params, caller, action: 'annotate' })
      return change(deps, request, queue, (given, { of, ...standing }) =>
        skipItem(given, of, standing),
      )
    },
  }),
  route({
    ...common,
    path: '/api/annotations/{queue_id}/undo',
    summary: 'Take back what you did last, and claim its item again with the answer as a draft',
    body: undoBody,
    response: itemAnswered,
    async handle(request) {
      const { caller, params, body } = request
      const queue = await queueFor(deps.pool, { ...params, caller, action: 'annotate' })
      const decided_at = new Date(body.decided_at)
      return change(deps, request, queue, (given, { of, isOpen, last, room }) => {
        const hasRoom = given?.is === 'answered' || room
        return undoItem(given, of, { isOpen, last, decided_at, hasRoom })
      })
    },
  }),
]

type OnQueue = HttpAsked & { caller: Person; params: { queue_id: string } }

/** A claim is a lease and no event. Everything in a queue happens under the lock of its stream, one after the other. */
async function claim(deps: Deps, request: OnQueue) {
  const { caller, params } = request
  const { queue_id } = params
  await queueFor(deps.pool, { queue_id, caller, action: 'annotate' })
  const { result } = await transact(deps, request, {
    target: annotationAt(queue_id),
    locks: [],
    async make({ tx, now }) {
      const queue = await queueFor(tx, { queue_id, caller, action: 'annotate' })
      refuseUnlessOpen(queue.is_open)
      await refuseUnlessShown(tx, queue, caller)
      const at: At = { queue_id, username: caller.username, now }
      const claimed = await claimNext(tx, at, queue.overlap)
      const held = claimed ? 0 : await countHeld(tx, at)
      return { claimed, held, last: await lastDecided(tx, at) }
    },
  })
  const { claimed, held, last } = result
  const rest = { held, last: last && { ...last, decided_at: toExactTimestamp(last.decided_at) } }
  if (!claimed) return { item: null, expires_at: null, draft: null, ...rest }
  const { expires_at, draft, ...item } = claimed
  return { item, expires_at: toTimestamp(expires_at), draft, ...rest }
}

type Facts = {
  of: ItemOfPerson
  isOpen: boolean
  claimed_until: Date | null
  now: Date
  judge: ItemRow['judge']
  last: Decided | null
  room: boolean
}
type Decide = (given: GivenAnswer, facts: Facts) => AnnotationAnswerEvent[]

/** Decides about an item of the queue for the caller. */
function change(
  deps: Deps,
  request: OnQueue & { body: { item: number } },
  { queue_id, overlap }: QueueRow,
  decide: Decide,
) {
  const { caller, body } = request
  const { item } = body
  const { username } = caller
  const target = annotationAnswerAt({ queue_id, item, username })
  return create(deps, request, target, {
    locks: [annotationAt(queue_id).stream],
    async make(work) {
      const facts = await factsOf(work, { queue_id, item, username, overlap })
      const { events } = await work.decide(target, {
        decide: given => decide(given, facts),
        alongside: (tx, decided) => saveAnswer(tx, decided, overlap),
      })
      const at = { queue_id, username, now: work.now }
      const decided_at = (await findClaim(work.tx, at, item))?.decided_at ?? null
      return {
        ...{ queue_id, item, changed: events.length > 0 },
        decided_at: decided_at && toExactTimestamp(decided_at),
      }
    },
  })
}

type Asked = { queue_id: string; item: number; username: string; overlap: number }

async function factsOf({ tx, now }: Work, { queue_id, item, username, overlap }: Asked) {
  const at = { queue_id, username, now }
  const found = await findItem(tx, queue_id, item)
  if (!found) throw new Refusal('not_found', `The annotation queue has no item ${item}`)
  const { digest, sources, judge } = found
  const claimed = await findClaim(tx, at, item)
  return {
    of: { queue_id, item, username, digest, sources },
    isOpen: (await findQueue(tx, queue_id))?.is_open ?? false,
    claimed_until: claimed?.state === 'claimed' ? claimed.expires_at : null,
    ...{ now, judge },
    last: await lastDecided(tx, at),
    room: await hasRoom(tx, at, { item, overlap }),
  }
}
