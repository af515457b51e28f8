import { type Route, route } from '../../auth/route.ts'
import { annotationAt } from '../../events/annotations.ts'
import {
  annotationCreated,
  annotationExport,
  annotationExported,
  annotationInput,
  annotationPath,
  queueChanged,
} from '../../schemas/annotations.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { type AnnotationReader, createAnnotation } from './create.ts'
import { setOpen } from './decide.ts'
import { type DatasetMaker, exportAnnotation } from './export.ts'
import { queueFor } from './find.ts'
import { saveOpen } from './rows.ts'
import { workRoutes } from './work-routes.ts'

export type AnnotationPorts = { annotationReader: AnnotationReader; datasetMaker: DatasetMaker }

const common = {
  method: 'POST',
  credential: 'person',
  reach: 'its_people',
  tag: 'annotations',
  params: annotationPath,
} as const

export const annotationRoutes = (
  deps: Deps,
  { annotationReader, datasetMaker }: AnnotationPorts,
): Route[] => [
  route({
    method: 'POST',
    path: '/api/annotations',
    credential: 'person',
    reach: 'its_people',
    tag: 'annotations',
    summary: 'Create a queue of samples or rows for people to annotate',
    body: annotationInput,
    response: annotationCreated,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request => createAnnotation(deps, annotationReader, request),
  }),
  ...workRoutes(deps),
  route({
    ...common,
    path: '/api/annotations/{queue_id}/close',
    summary: 'Close an annotation queue: nobody can claim or answer until it is open again',
    response: queueChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => set(deps, request, false),
  }),
  route({
    ...common,
    path: '/api/annotations/{queue_id}/reopen',
    summary: 'Reopen a closed annotation queue',
    response: queueChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => set(deps, request, true),
  }),
  route({
    ...common,
    path: '/api/annotations/{queue_id}/export',
    summary: 'Make the next version of a dataset from the answers of an annotation queue',
    body: annotationExport,
    response: annotationExported,
    refusals: ['forbidden', 'not_found', 'conflict', 'too_large'],
    handle: request => exportAnnotation(deps, datasetMaker, request),
  }),
]

type OnQueue = HttpAsked & {
  caller: Parameters<typeof queueFor>[1]['caller']
  params: { queue_id: string }
}

async function set(deps: Deps, request: OnQueue, isOpen: boolean) {
  const { caller, params } = request
  await queueFor(deps.pool, { ...params, caller, action: 'manage' })
  const { events } = await commit(deps, request, annotationAt(params.queue_id), {
    decide: queue => setOpen(queue, params, isOpen),
    alongside: saveOpen,
  })
  const state = isOpen ? ('open' as const) : ('closed' as const)
  return { queue_id: params.queue_id, state, changed: events.length > 0 }
}
