import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import {
  builtInRecipes,
  findRecipe,
  loadCatalogue,
  loadRecipe,
  lockOf,
} from '../../recipes/catalogue.ts'
import { recipeDigest } from '../../recipes/digest.ts'
import { folder, tinyFile, writeRecipe } from './tiny-recipe.ts'

test('a recipe is read with its defaults and its digest', async t => {
  const directory = await writeRecipe(await folder(t), {})
  const { recipe } = await loadRecipe(directory)
  t.deepEqual(recipe, {
    ...tinyFile,
    kind: 'train',
    image: null,
    resources: { min_gpus: 1, min_nodes: 1, profiles: [] },
    outputs: [],
    deprecated: false,
    digest: await recipeDigest(directory),
  })
  t.deepEqual(lockOf(recipe), {
    name: 'tiny',
    version: '1.2.0',
    digest: recipe.digest,
    framework: tinyFile.framework,
  })
})

test('the parameters of a job override the defaults and must fit the schema', async t => {
  const { resolveParams } = await loadRecipe(await writeRecipe(await folder(t), {}))
  t.deepEqual(resolveParams({}), { ok: true, value: { lr: 0.1, steps: 3 } })
  t.deepEqual(resolveParams({ lr: 1, steps: 9 }), { ok: true, value: { lr: 1, steps: 9 } })
  t.like(resolveParams({ lr: -1, other: 1 }), { ok: false })
})

test('the digest equals the output of the documented shell command', async t => {
  const directory = await writeRecipe(await folder(t), {
    'requirements.txt': 'numpy\n',
    'lib/b.py': 'b = 1\n',
    'lib-a.py': '',
    'Z.py': 'z = 1\n',
    'ünï code.py': '训练\n',
    '.hidden/x': 'left out',
    'lib/.env': 'left out',
    'lib/__pycache__/b.pyc': 'left out',
  })
  t.is(await recipeDigest(directory), `sha256:${shellDigest(directory)}`)
})

test('the digest changes with the content and the name of any file that is not ignored', async t => {
  const directory = await writeRecipe(await folder(t), { 'a.py': 'one\n' })
  const before = await recipeDigest(directory)
  await mkdir(path.join(directory, '__pycache__'))
  await writeFile(path.join(directory, '__pycache__', 'a.pyc'), 'x')
  t.is(await recipeDigest(directory), before)
  await writeFile(path.join(directory, 'a.py'), 'two\n')
  const changed = await recipeDigest(directory)
  t.not(changed, before)
  await writeFile(path.join(directory, 'b.py'), '')
  t.not(await recipeDigest(directory), changed)
})

test('a link in a recipe is refused', async t => {
  const directory = await writeRecipe(await folder(t), {})
  await symlink('/etc/hostname', path.join(directory, 'outside'))
  await t.throwsAsync(recipeDigest(directory), {
    message: /may only contain files and folders: outside/,
  })
})

const faults: [title: string, files: Record<string, unknown>, message: RegExp][] = [
  [
    'a missing field',
    { 'recipe.yaml': { ...tinyFile, title: undefined } },
    /title: Field required/,
  ],
  ['an unknown key', { 'recipe.yaml': { ...tinyFile, tittle: 'x' } }, /tittle/],
  ['no object at all', { 'recipe.yaml': '- 1\n' }, /recipe\.yaml/],
  ['a name in capitals', { 'recipe.yaml': { ...tinyFile, name: 'Tiny' } }, /name/],
  [
    'an entrypoint that is not there',
    { 'recipe.yaml': { ...tinyFile, entrypoint: 'x.py' } },
    /no x\.py/,
  ],
  [
    'an entrypoint outside',
    { 'recipe.yaml': { ...tinyFile, entrypoint: 'lib/../../x.py' } },
    /entrypoint/,
  ],
  [
    'defaults that do not fit the schema',
    { 'recipe.yaml': { ...tinyFile, params_default: { lr: 0 } } },
    /params_default: lr/,
  ],
  [
    'a params_schema that is not a schema',
    { 'recipe.yaml': { ...tinyFile, params_schema: { properties: { lr: { type: 'nummber' } } } } },
    /params_schema is not a JSON Schema/,
  ],
]
for (const [title, files, message] of faults)
  test(`a recipe is refused for ${title}, with its folder in the message`, async t => {
    const directory = await writeRecipe(await folder(t), files)
    const error = await t.throwsAsync(loadRecipe(directory), { message })
    t.true(error.message.includes(directory))
  })

test('a catalogue is ordered by name, the newest version first by number', async t => {
  const root = await folder(t)
  for (const [name, version, deprecated] of [
    ['b', '1.9.0', false],
    ['b', '1.10.0', true],
    ['a', '0.1.0', true],
  ] as const)
    await writeRecipe(path.join(root, `${name}-${version}`), {
      'recipe.yaml': { ...tinyFile, name, version, deprecated },
    })
  await mkdir(path.join(root, 'no-recipe'))
  const entries = await loadCatalogue(root)
  t.deepEqual(
    entries.map(({ recipe }) => `${recipe.name} ${recipe.version}`),
    ['a 0.1.0', 'b 1.10.0', 'b 1.9.0'],
  )
  t.is(findRecipe(entries, 'b')?.recipe.version, '1.9.0', 'the newest is deprecated')
  t.is(findRecipe(entries, 'a')?.recipe.version, '0.1.0', 'there is no other')
  t.is(findRecipe(entries, 'b', '1.10.0')?.recipe.version, '1.10.0')
  t.is(findRecipe(entries, 'b', '2.0.0'), null)
  t.is(findRecipe(entries, 'c'), null)
})

test('a catalogue with two recipes of the same name and version is refused', async t => {
  const root = await folder(t)
  await writeRecipe(path.join(root, 'one'), {})
  await writeRecipe(path.join(root, 'two'), {})
  await t.throwsAsync(loadCatalogue(root), { message: /tiny 1\.2\.0/ })
})

test('all recipes that come with Forge are valid', async t => {
  const entries = await loadCatalogue(builtInRecipes)
  t.true(entries.length > 0)
  for (const { directory, recipe } of entries)
    t.is(recipe.digest, `sha256:${shellDigest(directory)}`, recipe.name)
})

function shellDigest(directory: string): string {
  const command = String.raw`find . -type f -not -path '*/.*' -not -path '*/__pycache__/*' -printf '%P\0' |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`
  return execFileSync('sh', ['-c', command], { cwd: directory, encoding: 'utf8' }).slice(0, 64)
}
