import type { RecipeAdded, RecipeEvent, RecipeState } from '../../events/recipes.ts'
import { Refusal } from '../../platform/refusal.ts'

/** `builtIn`: the digest of the recipe of that name and version that comes with Forge. Repeating it appends no event. */
export function addRecipe(
  { digest }: RecipeState,
  facts: RecipeAdded,
  builtIn: string | null,
): RecipeEvent[] {
  const present = digest ?? builtIn
  if (present === facts.digest) return []
  if (present === null) return [{ type: 'recipe.added', data: facts }]
  const { name, version } = facts
  throw new Refusal(
    'conflict',
    `Recipe ${name} ${version} already exists with the digest ${present}, not ${facts.digest}`,
    {
      code: 'recipe.exists',
      data: { name, version, digest: present },
      hint: 'A version never changes: give the recipe another version in recipe.yaml',
    },
  )
}

type Wanted = { name: string; version: string; deprecated: boolean }

/** `now`: the state in the catalogue, which for a built-in recipe comes from its file. Idempotent. */
export function deprecateRecipe(
  state: RecipeState,
  { deprecated, ...data }: Wanted,
  now: boolean,
): RecipeEvent[] {
  if ((state.deprecated ?? now) === deprecated) return []
  return [{ type: deprecated ? 'recipe.deprecated' : 'recipe.reinstated', data }]
}
