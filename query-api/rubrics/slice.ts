import { Type } from 'typebox'
import type { RubricTables } from '../../projector/rubrics/table.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { judgingRoutes } from './judgings.ts'
import { rubricRoutes } from './routes.ts'

const text = Type.String({ minLength: 1, maxLength: 128 })

export const rubrics: Slice<RubricTables & AccessTables> = {
  name: 'rubrics',
  routes: ({ reads, pool }) => [...rubricRoutes(reads), ...judgingRoutes({ reads, pool })],
  pages: [
    { path: '/rubrics', summary: 'Rubrics' },
    {
      path: '/rubrics/{owner}/{name}',
      summary: 'A rubric',
      params: Type.Object({ owner: text, name: text }),
    },
  ],
  examples: { paths: { 'judgings.judging_id': 'jdg_01J00000000000000000000000' } },
}
