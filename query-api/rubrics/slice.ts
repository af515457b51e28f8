import { Type } from 'typebox'
import type { RubricTables } from '../../projector/rubrics/table.ts'
import type { Slice } from '../slice.ts'
import { rubricRoutes } from './routes.ts'

const text = Type.String({ minLength: 1, maxLength: 128 })

export const rubrics: Slice<RubricTables> = {
  name: 'rubrics',
  routes: ({ reads }) => rubricRoutes(reads),
  pages: [
    { path: '/rubrics', summary: 'Rubrics' },
    {
      path: '/rubrics/{owner}/{name}',
      summary: 'A rubric',
      params: Type.Object({ owner: text, name: text }),
    },
  ],
}
