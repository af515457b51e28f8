import { Type } from 'typebox'
import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { modelRoutes } from './routes.ts'

const text = Type.String({ minLength: 1, maxLength: 128 })

export const models: Slice<Tables> = {
  name: 'models',
  routes: ({ reads }) => modelRoutes(reads),
  pages: [
    { path: '/models', summary: 'Models' },
    { path: '/models/{model}', summary: 'A model', params: Type.Object({ model: text }) },
  ],
}
