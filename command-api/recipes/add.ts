import { readFile } from 'node:fs/promises'
import { recipeAt } from '../../events/recipes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { findRecipe, loadRecipe } from '../../recipes/catalogue.ts'
import type { Recipe } from '../../schemas/recipes.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refusingFaults } from '../rules/read-archive.ts'
import { addRecipe } from './decide.ts'
import type { RecipePorts } from './ports.ts'

/** Held by everybody who changes the table, so that a row with a higher `change` never becomes visible before a lower one. */
export const recipesLock = 'recipes'

type Added = { recipe: Recipe; created: boolean }
type Uploaded = { sha256: string; size_bytes: number }

/** Adds the recipe of an uploaded archive to the catalogue. */
export async function add(
  deps: Deps,
  { recipeFiles, catalogue }: RecipePorts,
  request: HttpAsked & { caller: { username: string }; body: { upload_id: string } },
): Promise<Added> {
  const { upload_id } = request.body
  const { sha256, size_bytes } = await findArchive(deps, upload_id, request.caller.username)
  const file = deps.uploads.fileOf(sha256)
  const { recipe } = await refusingFaults('recipe', () =>
    recipeFiles.unpacked(file, directory => loadRecipe(directory, 'in the archive')),
  )
  const facts = { ...recipe, archive_sha256: sha256, archive_bytes: size_bytes }
  const { name, version } = recipe
  const builtIn = findRecipe(catalogue.builtIn, name, version)?.recipe.digest ?? null
  const target = recipeAt(name, version)
  return create(deps, request, target, {
    locks: [recipesLock],
    async make(work) {
      const { events } = await work.decide(target, {
        decide: state => addRecipe(state, facts, builtIn),
        alongside: async tx => insertRecipe(tx, recipe, await readFile(file)),
      })
      return { recipe, created: events.length > 0 }
    },
  })
}

/** Also marks it as used, so that it is kept for a while. */
async function findArchive(
  { pool, now }: Deps,
  upload_id: string,
  owner: string,
): Promise<Uploaded> {
  const { rows } = await pool.query(
    `update write.upload set used_at = $3
      where upload_id = $1 and owner = $2 and purpose = 'recipe' and completed_at is not null
     returning sha256, size_bytes::float8 as size_bytes`,
    [upload_id, owner, now()],
  )
  if (!rows[0])
    throw new Refusal('invalid', `No such upload of yours: ${upload_id}`, {
      code: 'recipe.no_upload',
      hint: 'Upload the archive with POST /api/uploads (purpose "recipe") and register it first',
    })
  return rows[0]
}

const insertRecipe = (tx: Transaction, recipe: Recipe, archive: Buffer) =>
  tx.query(
    `insert into write.recipe (name, version, recipe, archive, deprecated) values ($1, $2, $3, $4, $5)
     -- There may be the deprecation of a recipe that came with an earlier Forge.
     on conflict (name, version) do update
       set recipe = excluded.recipe, archive = excluded.archive, deprecated = excluded.deprecated,
           change = nextval('write.recipe_change')`,
    [recipe.name, recipe.version, recipe, archive, recipe.deprecated],
  )
