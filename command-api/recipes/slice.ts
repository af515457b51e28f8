import type { Slice } from '../slice.ts'
import type { RecipePorts } from './ports.ts'
import { recipeRoutes } from './routes.ts'

export const recipes: Slice<RecipePorts> = {
  name: 'recipes',
  routes: recipeRoutes,
  kind: null,
  announces: {
    recipe: 'nothing',
  },
  unprojected: ['recipe.added', 'recipe.deprecated', 'recipe.reinstated'],
  tables: ['write.recipe', 'write.recipe_change'],
  examples: {
    paths: { 'recipes.name': 'digits', 'recipes.version': '1.0.0' },
    bodies: { 'POST /api/admin/recipes': { upload_id: 'upl_01J00000000000000000000000' } },
  },
}
