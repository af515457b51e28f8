import { Type } from 'typebox'
import { type AnnotationAnswer, annotationAnswer, annotationJudge } from '../schemas/annotations.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** An item as one person sees it; `sources` are the samples or rows that it consists of. */
const common = {
  queue_id: Type.String(),
  item: Type.Integer({ minimum: 1 }),
  username: Type.String(),
  digest: Type.String(),
  sources: Type.Array(Type.String()),
}

/** A person has answered. `judge`: the choice or score of a judge for the same item. */
export const annotationAnswered = event(
  'annotation.answered',
  Type.Object({ ...common, answer: annotationAnswer, judge: annotationJudge }),
  ({ queue_id, item }, who) => `${who} answered item ${item} of the annotation queue ${queue_id}`,
)

/** A person left an item to others. */
export const annotationSkipped = event(
  'annotation.skipped',
  Type.Object(common),
  ({ queue_id, item }, who) => `${who} skipped item ${item} of the annotation queue ${queue_id}`,
)

/** A person took their answer, or their skip, back. */
export const annotationUndone = event(
  'annotation.undone',
  Type.Object(common),
  ({ queue_id, item }, who) =>
    `${who} took the answer to item ${item} of the annotation queue ${queue_id} back`,
)

const events = [annotationAnswered, annotationSkipped, annotationUndone] as const
export type AnnotationAnswerEvent = EventOf<(typeof events)[number]>

/** What a person did with an item; null: nothing that still counts. */
export type GivenAnswer = { is: 'answered'; answer: AnnotationAnswer } | { is: 'skipped' } | null

function evolve(_: GivenAnswer, event: AnnotationAnswerEvent): GivenAnswer {
  switch (event.type) {
    case 'annotation.answered':
      return { is: 'answered', answer: event.data.answer }
    case 'annotation.skipped':
      return { is: 'skipped' }
    case 'annotation.undone':
      return null
  }
}

export const annotationAnswers = aggregate('annotation_answer', {
  events,
  initial: null,
  evolve,
})

export type AnswerName = { queue_id: string; item: number; username: string }
export const annotationAnswerAt = ({ queue_id, item, username }: AnswerName) =>
  annotationAnswers.at(`${queue_id}/${item}/${username}`)
