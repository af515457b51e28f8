import type { AnnotationAnswerEvent, GivenAnswer } from '../../events/annotation-answers.ts'
import type { AnnotationEvent, AnnotationQueue } from '../../events/annotations.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { AnnotationAnswer, AnnotationJudge } from '../../schemas/annotations.ts'
import { toExactTimestamp } from '../../schemas/timestamp.ts'

type Data<T extends AnnotationEvent['type']> = Extract<AnnotationEvent, { type: T }>['data']

export const createQueue = (
  queue: AnnotationQueue,
  data: Data<'annotation.queue_created'>,
): AnnotationEvent[] => (queue ? [] : [{ type: 'annotation.queue_created', data }])

type Named = { queue_id: string }

/** Idempotent: closing a closed queue changes nothing, and so does reopening an open one. */
export function setOpen(
  queue: AnnotationQueue,
  { queue_id }: Named,
  isOpen: boolean,
): AnnotationEvent[] {
  const { name, project, isOpen: wasOpen } = existing(queue, queue_id)
  if (isOpen === wasOpen) return []
  const type = isOpen ? 'annotation.queue_reopened' : 'annotation.queue_closed'
  return [{ type, data: { queue_id, name, project } }]
}

export function exportQueue(
  queue: AnnotationQueue,
  { queue_id, ref, rows }: Named & { ref: string; rows: number },
): AnnotationEvent[] {
  const { name, project, exported } = existing(queue, queue_id)
  if (exported === ref) return []
  return [{ type: 'annotation.queue_exported', data: { queue_id, name, project, ref, rows } }]
}

export const noSuchQueue = (queue_id: string) =>
  new Refusal('not_found', `No such annotation queue: ${queue_id}`)

function existing(queue: AnnotationQueue, queue_id: string): NonNullable<AnnotationQueue> {
  if (!queue) throw noSuchQueue(queue_id)
  return queue
}

/** An item as the person's events name it. */
export type ItemOfPerson = {
  queue_id: string
  item: number
  username: string
  digest: string
  sources: string[]
}

/** `claimed_until`: the end of the person's claim, even if it is over; null: there is none. */
export type Standing = { isOpen: boolean; claimed_until: Date | null; now: Date }

/** The same answer again changes nothing, at any time. */
export function answerItem(
  given: GivenAnswer,
  of: ItemOfPerson,
  { answer, judge, ...standing }: Standing & { answer: AnnotationAnswer; judge: AnnotationJudge },
): AnnotationAnswerEvent[] {
  if (given?.is === 'answered' && equal(given.answer, answer)) return []
  refuseUnlessHeld(given, of, standing)
  return [{ type: 'annotation.answered', data: { ...of, answer, judge } }]
}

export function skipItem(
  given: GivenAnswer,
  of: ItemOfPerson,
  standing: Standing,
): AnnotationAnswerEvent[] {
  if (given?.is === 'skipped') return []
  refuseUnlessHeld(given, of, standing)
  return [{ type: 'annotation.skipped', data: of }]
}

export const leaseEnded = 'annotation.lease_ended'

function refuseUnlessHeld(
  given: GivenAnswer,
  { item }: ItemOfPerson,
  { isOpen, claimed_until, now }: Standing,
): void {
  if (given)
    throw new Refusal('conflict', `You have ${given.is} item ${item} already`, {
      code: 'annotation.already_answered',
      hint: 'Undo it first',
    })
  refuseUnlessOpen(isOpen)
  if (claimed_until === null)
    throw new Refusal('conflict', `You have not claimed item ${item}`, {
      code: 'annotation.not_claimed',
      hint: 'POST …/claims returns the next item for you',
    })
  if (claimed_until <= now)
    throw new Refusal('conflict', `Your claim of item ${item} has ended`, {
      code: leaseEnded,
      data: { expired_at: claimed_until.toISOString() },
      hint: 'The answer is kept as a draft: claim again to get both back, unless others have answered the item',
    })
}

export function refuseUnlessOpen(isOpen: boolean): void {
  if (isOpen) return
  throw new Refusal('conflict', 'The annotation queue is closed', { code: 'annotation.closed' })
}

/**
 * `last`: what the person answered or skipped last; `decided_at`: when the act that they take back happened; `hasRoom`: the person would
 * not be one too many at a skipped item.
 */
export type Undoing = {
  isOpen: boolean
  last: { item: number; decided_at: Date } | null
  decided_at: Date
  hasRoom: boolean
}

/** Idempotent: undoing an item again appends no event. */
export function undoItem(
  given: GivenAnswer,
  of: ItemOfPerson,
  { isOpen, last, decided_at, hasRoom }: Undoing,
): AnnotationAnswerEvent[] {
  if (!given) return []
  refuseUnlessOpen(isOpen)
  if (last?.item !== of.item || last.decided_at.getTime() !== decided_at.getTime())
    throw new Refusal(
      'conflict',
      last?.item === of.item
        ? `You have decided item ${of.item} again since then`
        : `Item ${of.item} is not the one that you did last`,
      {
        code: 'annotation.not_last',
        data: { last: last && { ...last, decided_at: toExactTimestamp(last.decided_at) } },
      },
    )
  if (!hasRoom)
    throw new Refusal('conflict', `Others have taken item ${of.item} since you skipped it`, {
      code: 'annotation.taken',
    })
  return [{ type: 'annotation.undone', data: of }]
}

const equal = (one: AnnotationAnswer, other: AnnotationAnswer): boolean =>
  one.choice === other.choice &&
  one.text === other.text &&
  sameScores(one.scores ?? {}, other.scores ?? {})

const sameScores = (one: Record<string, number>, other: Record<string, number>): boolean => {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length && names.every(name => one[name] === other[name])
  )
}
