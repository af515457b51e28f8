import { type Route, route } from '../../auth/route.ts'
import { recipeAt } from '../../events/recipes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { findRecipe } from '../../recipes/catalogue.ts'
import {
  addedRecipe,
  recipe,
  recipeDeprecation,
  recipeUpload,
  recipeVersionPath,
} from '../../schemas/recipes.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { add, recipesLock } from './add.ts'
import { deprecateRecipe } from './decide.ts'
import type { RecipePorts } from './ports.ts'

export const recipeRoutes = (deps: Deps, ports: RecipePorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/recipes',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Add a version of a recipe, from an archive uploaded for it',
    body: recipeUpload,
    response: addedRecipe,
    refusals: ['invalid', 'conflict', 'too_large'],
    async handle(request) {
      const { recipe: added, created } = await add(deps, ports, request)
      return { ...added, created }
    },
  }),
  route({
    method: 'POST',
    path: '/api/admin/recipes/{name}/{version}/deprecate',
    credential: 'admin',
    tag: 'admin',
    summary: 'Warn people who submit jobs with a version of a recipe, or stop warning them',
    params: recipeVersionPath,
    body: recipeDeprecation,
    bodyMayBeAbsent: true,
    response: recipe,
    refusals: ['not_found'],
    async handle(request) {
      const { params, body } = request
      const { name, version } = params
      const entry = findRecipe(await ports.catalogue.all(), name, version)
      if (!entry) throw new Refusal('not_found', `No such recipe: ${name} ${version}`)
      const { deprecated = true } = body
      const now = entry.recipe.deprecated
      await commit(deps, request, recipeAt(name, version), {
        locks: [recipesLock],
        decide: state => deprecateRecipe(state, { name, version, deprecated }, now),
        alongside: tx =>
          tx.query(
            `insert into write.recipe (name, version, deprecated) values ($1, $2, $3)
             on conflict (name, version) do update
               set deprecated = excluded.deprecated, change = nextval('write.recipe_change')`,
            [name, version, deprecated],
          ),
      })
      return { ...entry.recipe, deprecated }
    },
  }),
]
