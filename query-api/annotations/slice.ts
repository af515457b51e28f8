import { annotationPath } from '../../schemas/annotations.ts'
import type { Slice } from '../slice.ts'
import { annotationRoutes, type Tables } from './routes.ts'

export const annotations: Slice<Tables> = {
  name: 'annotations',
  routes: ({ reads, readJudgeScores }) => annotationRoutes(reads, readJudgeScores),
  pages: [
    { path: '/annotations', summary: 'Annotation queues' },
    { path: '/annotations/{queue_id}', summary: 'An annotation queue', params: annotationPath },
    {
      path: '/annotations/{queue_id}/work',
      summary: 'The items of an annotation queue, one by one',
      params: annotationPath,
    },
  ],
}
