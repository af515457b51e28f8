import { type Static, Type } from 'typebox'
import { annotationKinds, annotationRubric, annotationSource } from '../schemas/annotations.ts'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** A queue was created, with its items. `digest` covers all of them. */
export const annotationQueueCreated = event(
  'annotation.queue_created',
  Type.Object({
    queue_id: Type.String(),
    name: Type.String(),
    project: Type.String(),
    owner: Type.String(),
    kind: oneOf(...annotationKinds),
    source: annotationSource,
    rubric: nullable(annotationRubric),
    instructions: Type.String(),
    overlap: Type.Integer({ minimum: 1 }),
    items: Type.Integer({ minimum: 1 }),
    digest: Type.String(),
  }),
  ({ name, project, items }, who) =>
    `${who} created the annotation queue ${name} of ${items} ${items === 1 ? 'item' : 'items'} in project ${project}`,
)

const named = { queue_id: Type.String(), name: Type.String(), project: Type.String() }

/** Nobody may claim or answer until it is open again. */
export const annotationQueueClosed = event(
  'annotation.queue_closed',
  Type.Object(named),
  ({ name, project }, who) => `${who} closed the annotation queue ${name} of project ${project}`,
)

export const annotationQueueReopened = event(
  'annotation.queue_reopened',
  Type.Object(named),
  ({ name, project }, who) => `${who} reopened the annotation queue ${name} of project ${project}`,
)

/** Its answers became a version of a dataset. */
export const annotationQueueExported = event(
  'annotation.queue_exported',
  Type.Object({ ...named, ref: Type.String(), rows: Type.Integer({ minimum: 1 }) }),
  ({ name, project, ref, rows }, who) =>
    `${who} exported the annotation queue ${name} of project ${project} as ${rows} ${rows === 1 ? 'row' : 'rows'} of the dataset ${ref}`,
)

const events = [
  annotationQueueCreated,
  annotationQueueClosed,
  annotationQueueReopened,
  annotationQueueExported,
] as const
export type AnnotationEvent = EventOf<(typeof events)[number]>

/** Null before it is created. */
export type AnnotationQueue = {
  name: string
  project: string
  isOpen: boolean
  /** The newest version made from it. */
  exported: Static<typeof annotationQueueExported.data>['ref'] | null
} | null

function evolve(queue: AnnotationQueue, event: AnnotationEvent): AnnotationQueue {
  const { name, project } = event.data
  switch (event.type) {
    case 'annotation.queue_created':
      return { name, project, isOpen: true, exported: null }
    case 'annotation.queue_closed':
      return queue && { ...queue, isOpen: false }
    case 'annotation.queue_reopened':
      return queue && { ...queue, isOpen: true }
    case 'annotation.queue_exported':
      return queue && { ...queue, exported: event.data.ref }
  }
}

export const annotations = aggregate('annotation', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const annotationAt = (queueId: string) => annotations.at(queueId)
