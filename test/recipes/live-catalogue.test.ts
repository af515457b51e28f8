import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { type CatalogueEntry, loadRecipe } from '../../recipes/catalogue.ts'
import { recipeDigest } from '../../recipes/digest.ts'
import { LiveCatalogue } from '../../recipes/live-catalogue.ts'
import { UploadedFiles } from '../../recipes/uploaded-files.ts'
import { database } from '../servers/postgres.ts'
import { folder, tinyFile, writeRecipe } from './tiny-recipe.ts'
import { archiveOf } from './uploading.ts'

async function machine(t: ExecutionContext, pool: Pool, builtIn: readonly CatalogueEntry[] = []) {
  const root = join(await folder(t), 'recipes')
  const files = new UploadedFiles(root)
  await files.open(new Date())
  const noticed: string[] = []
  let nowMs = 0
  const catalogue = new LiveCatalogue({
    ...{ builtIn, pool, files },
    nowMs: () => nowMs,
    noticed: (what, { name, version }) => noticed.push(`${name} ${version}: ${what}`),
  })
  return { root, files, catalogue, noticed, pass: (ms: number) => (nowMs += ms) }
}

/** Stores a version as a command does, and returns its digest. */
async function store(t: ExecutionContext, pool: Pool, fields: object = {}): Promise<string> {
  const archive = archiveOf(fields)
  const file = join(await folder(t), 'archive')
  await writeFile(file, archive)
  const files = new UploadedFiles(join(await folder(t), 'recipes'))
  await files.open(new Date())
  const { recipe } = await files.unpacked(file, directory => loadRecipe(directory))
  await pool.query(
    'insert into write.recipe (name, version, recipe, archive, deprecated) values ($1, $2, $3, $4, false)',
    [recipe.name, recipe.version, recipe, archive],
  )
  return recipe.digest
}

const names = (entries: readonly CatalogueEntry[]) =>
  entries.map(({ recipe }) => `${recipe.name} ${recipe.version}`)

test('each machine unpacks the files of a recipe when it needs them, and repairs the remains of a crash', async t => {
  const { pool } = await database(t)
  const digest = await store(t, pool)
  const { catalogue, root, files } = await machine(t, pool)
  t.deepEqual(await readdir(root), [])
  const entry = await catalogue.provide('tiny', '1.2.0')
  t.is(entry?.directory, files.directoryOf(digest))
  t.is(await recipeDigest(files.directoryOf(digest)), digest)
  for (let crash = 0; crash < 5; crash++) {
    await rm(join(files.directoryOf(digest), 'train.py'))
    await Promise.all(Array.from({ length: 6 }, () => catalogue.provide('tiny', '1.2.0')))
    t.is(await readFile(join(files.directoryOf(digest), 'train.py'), 'utf8'), 'print("trained")\n')
  }
  t.deepEqual(await readdir(root), [`sha256-${digest.slice(7)}`], 'nothing else is left')
  t.is(await catalogue.provide('tiny', '9.9.9'), null)
})

test('admission sees a new version at once, and a deprecation within a second', async t => {
  const { pool } = await database(t)
  const { catalogue, pass } = await machine(t, pool)
  const version = { name: 'tiny', version: '1.2.0' }
  t.deepEqual(names(await catalogue.including(version)), [])
  await store(t, pool)
  t.deepEqual(names(await catalogue.including(version)), ['tiny 1.2.0'])
  await pool.query(
    "update write.recipe set deprecated = true, change = nextval('write.recipe_change')",
  )
  t.false((await catalogue.including(version))[0]?.recipe.deprecated)
  pass(1000)
  t.true((await catalogue.including(version))[0]?.recipe.deprecated)
})

test('a stored recipe that cannot be read hides no other, and one replaces a built-in one', async t => {
  const { pool } = await database(t)
  const builtIn = await loadRecipe(await writeRecipe(await folder(t), {}))
  const { catalogue, noticed } = await machine(t, pool, [builtIn])
  await store(t, pool, { version: '1.1.0' })
  const broken = { ...tinyFile, version: '1.0.0', params_schema: { type: 'nothing' } }
  await pool.query(
    "insert into write.recipe (name, version, recipe, archive, deprecated) values ('tiny', '1.0.0', $1, '', false)",
    [{ ...broken, digest: `sha256:${'00'.repeat(32)}` }],
  )
  t.deepEqual(names(await catalogue.all()), ['tiny 1.2.0', 'tiny 1.1.0'])
  const digest = await store(t, pool)
  const [first] = await catalogue.all()
  t.is(first?.recipe.digest, digest)
  t.deepEqual(noticed, [
    'tiny 1.0.0: an uploaded recipe cannot be read',
    'tiny 1.2.0: an uploaded recipe takes the place of a built-in one',
  ])
})
