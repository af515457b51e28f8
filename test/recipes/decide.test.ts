import test from 'ava'
import { addRecipe, deprecateRecipe } from '../../command-api/recipes/decide.ts'
import { type RecipeAdded, type RecipeEvent, recipes } from '../../events/recipes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { tinyFile } from './tiny-recipe.ts'

const digest = `sha256:${'9f'.repeat(32)}`
const facts: RecipeAdded = {
  ...tinyFile,
  ...{ kind: 'train', image: null, resources: { min_gpus: 1, min_nodes: 1, profiles: [] } },
  ...{ outputs: [], deprecated: false, digest, archive_sha256: '3c'.repeat(32), archive_bytes: 9 },
}
const other = `sha256:${'00'.repeat(32)}`
const version = { name: 'tiny', version: '1.2.0' }
const stamp = {
  occurred_at: '2026-11-22T09:00:00.000Z',
  actor: { type: 'user', id: 'ada', via: 'password' } as const,
}

const after = (...events: RecipeEvent[]) =>
  events.reduce((state, event) => recipes.evolve(state, { ...event, ...stamp }), recipes.initial)
const added: RecipeEvent = { type: 'recipe.added', data: facts }

test('a version is added once; the same files again append nothing', t => {
  t.deepEqual(addRecipe(after(), facts, null), [added])
  t.deepEqual(addRecipe(after(added), facts, null), [])
  t.deepEqual(addRecipe(after(), facts, digest), [], 'it comes with Forge')
})

test('other files under a version that exists are a conflict, which names both digests', t => {
  for (const [state, builtIn] of [
    [after(added), null],
    [after(), digest],
  ] as const) {
    const error = t.throws(() => addRecipe(state, { ...facts, digest: other }, builtIn), {
      instanceOf: Refusal,
      code: 'conflict',
    })
    t.is(error.message, `Recipe tiny 1.2.0 already exists with the digest ${digest}, not ${other}`)
  }
})

test('a version is deprecated and reinstated; repeating either appends nothing', t => {
  const deprecated: RecipeEvent = { type: 'recipe.deprecated', data: version }
  const reinstated: RecipeEvent = { type: 'recipe.reinstated', data: version }
  const yes = { ...version, deprecated: true }
  const no = { ...version, deprecated: false }
  t.deepEqual(deprecateRecipe(after(added), yes, false), [deprecated])
  t.deepEqual(deprecateRecipe(after(added, deprecated), yes, false), [])
  t.deepEqual(deprecateRecipe(after(added, deprecated), no, true), [reinstated])
  t.deepEqual(deprecateRecipe(after(), no, false), [], 'a built-in one, as its file says')
  t.deepEqual(deprecateRecipe(after(), no, true), [reinstated])
})
