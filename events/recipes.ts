import { type Static, Type } from 'typebox'
import { recipe } from '../schemas/recipes.ts'
import { aggregate, type EventOf, event } from './event.ts'

const version = { name: Type.String(), version: Type.String() }

/** Serving templates come with Forge. */
const { serving: _, ...uploaded } = recipe.properties

/** An admin added a version of a recipe; its files are the archive's, permanently stored under the digest. */
export const recipeAdded = event(
  'recipe.added',
  Type.Object({
    ...uploaded,
    archive_sha256: Type.String(),
    archive_bytes: Type.Integer({ minimum: 1 }),
  }),
  ({ name, version: added, digest }, who) => `${who} added recipe ${name} ${added} (${digest})`,
)

/** Submitting jobs of this version warns from now on. */
export const recipeDeprecated = event(
  'recipe.deprecated',
  Type.Object(version),
  ({ name, version: old }, who) => `${who} deprecated recipe ${name} ${old}`,
)

/** The version is no longer deprecated. */
export const recipeReinstated = event(
  'recipe.reinstated',
  Type.Object(version),
  ({ name, version: old }, who) => `${who} undid the deprecation of recipe ${name} ${old}`,
)

const events = [recipeAdded, recipeDeprecated, recipeReinstated] as const
export type RecipeEvent = EventOf<(typeof events)[number]>
export type RecipeAdded = Static<typeof recipeAdded.data>

/** `digest`: null unless it was uploaded; `deprecated`: null unless an admin deprecated it. */
export type RecipeState = { digest: string | null; deprecated: boolean | null }

function evolve(state: RecipeState, event: RecipeEvent): RecipeState {
  switch (event.type) {
    case 'recipe.added':
      return { digest: event.data.digest, deprecated: event.data.deprecated }
    case 'recipe.deprecated':
      return { ...state, deprecated: true }
    case 'recipe.reinstated':
      return { ...state, deprecated: false }
  }
}

export const recipes = aggregate('recipe', {
  events,
  initial: { digest: null, deprecated: null },
  evolve,
})
export const recipeAt = (name: string, version: string) => recipes.at(`${name}@${version}`)
