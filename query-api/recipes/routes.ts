import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type CatalogueEntry, findRecipe, lockOf } from '../../recipes/catalogue.ts'
import { isTemplate, recipe, recipeLock, recipeVersionPath } from '../../schemas/recipes.ts'
import { closed, pageQuery } from '../../schemas/shared.ts'
import { pagedList } from '../reading/list.ts'

const namePath = Type.Object({ name: Type.String({ maxLength: 64 }) })

/** All recipes as of now. */
export type Recipes = { all(): Promise<readonly CatalogueEntry[]> }

export const recipeRoutes = (recipes: Recipes): Route[] => [
  pagedList({
    path: '/api/recipes',
    credential: 'person',
    tag: 'recipes',
    summary: 'List the recipes jobs can be of, by name, the newest version first',
    query: closed({
      ...pageQuery,
      /** `serve` lists serving templates, which are left out otherwise. */
      kind: Type.Optional(Type.String({ maxLength: 32 })),
    }),
    row: recipe,
    of: () => recipes.all(),
    async read(all, { query: { kind } }, { limit, offset }) {
      const catalogue = all.filter(({ recipe }) =>
        kind === undefined ? !isTemplate(recipe) : recipe.kind === kind,
      )
      const page = catalogue.slice(offset, offset + limit)
      return { rows: page.map(entry => entry.recipe), counted: catalogue.length }
    },
  }),
  route({
    method: 'GET',
    path: '/api/recipes/{name}',
    credential: 'person',
    reach: 'all',
    tag: 'recipes',
    summary: 'Read the newest version of a recipe that is not deprecated',
    params: namePath,
    response: recipe,
    refusals: ['not_found'],
    handle: async ({ params }) => named(await recipes.all(), params.name).recipe,
  }),
  route({
    method: 'GET',
    path: '/api/recipes/{name}/{version}',
    credential: 'person',
    reach: 'all',
    tag: 'recipes',
    summary: 'Read one version of a recipe',
    params: recipeVersionPath,
    response: recipe,
    refusals: ['not_found'],
    handle: async ({ params }) => named(await recipes.all(), params.name, params.version).recipe,
  }),
  route({
    method: 'GET',
    path: '/api/recipes/{name}/{version}/lock',
    credential: 'person',
    reach: 'all',
    tag: 'recipes',
    summary: 'The lock to paste into a JobSpec',
    params: recipeVersionPath,
    response: recipeLock,
    refusals: ['not_found'],
    handle: async ({ params }) =>
      lockOf(named(await recipes.all(), params.name, params.version).recipe),
  }),
]

function named(
  catalogue: readonly CatalogueEntry[],
  name: string,
  version?: string,
): CatalogueEntry {
  const entry = findRecipe(catalogue, name, version)
  if (entry) return entry
  const jobs = catalogue.filter(({ recipe }) => !isTemplate(recipe))
  const known = [...new Set(jobs.map(({ recipe: { name: other } }) => other))].join(', ')
  throw new Refusal('not_found', `No such recipe: ${name}${version ? ` ${version}` : ''}`, {
    hint: `Known recipes: ${known || 'none'}`,
  })
}
