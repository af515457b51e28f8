import type { Slice } from '../slice.ts'
import { recipeRoutes } from './routes.ts'

export const recipes: Slice = {
  name: 'recipes',
  routes: ({ catalogue }) => recipeRoutes(catalogue),
}
