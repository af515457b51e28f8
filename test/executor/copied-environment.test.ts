import { cp, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  ensureEnvironment,
  type PythonEnvironment,
} from '../../executor/preparation/python-environment.ts'
import { folder, makeWheel, writeRecipe } from '../recipes/tiny-recipe.ts'

/** A recipe with a package, whose environments are in this folder. */
async function given(t: ExecutionContext) {
  const recipe = await writeRecipe(path.join(await folder(t), 'recipe'), {
    'requirements.txt': '--no-index\n--find-links wheels\ntiny_package\n',
    'wheels/README': '',
  })
  makeWheel(path.join(recipe, 'wheels'), 'tiny_package')
  let built = 0
  return {
    async ensure(environmentsDirectory: string): Promise<PythonEnvironment & { built: number }> {
      const environment = await ensureEnvironment({
        ...{ environmentsDirectory, runtimeId: 'rt_test', recipeDirectory: recipe },
        python: 'python3',
        say: () => {},
        onBuild: async () => void built++,
      })
      return { ...environment, built }
    },
  }
}

test('an environment that was copied with its folder is built again where it is now', async t => {
  const { ensure } = await given(t)
  const [original, copy] = [path.join(await folder(t), 'a'), path.join(await folder(t), 'b')]
  t.is((await ensure(original)).built, 1)
  await cp(original, copy, { recursive: true, verbatimSymlinks: true })
  const moved = await ensure(copy)
  t.is(moved.built, 2)
  t.true(moved.python.startsWith(`${copy}/`), moved.python)
  t.is((await ensure(copy)).built, 2)
  t.is((await ensure(original)).built, 2, 'the original is still in use')
})

test('an environment of an earlier version, whose manifest has absolute paths, is used where it was built', async t => {
  const { ensure } = await given(t)
  const environments = await folder(t)
  await ensure(environments)
  const [name = ''] = await readdir(environments)
  const place = await realpath(path.join(environments, name, 'current'))
  const manifest = path.join(place, 'forge-environment.json')
  const { python, packages } = JSON.parse(await readFile(manifest, 'utf8'))
  t.is(python, 'bin/python', 'relative to the environment')
  await writeFile(manifest, JSON.stringify({ python: path.join(place, python), packages }))
  t.is((await ensure(environments)).built, 1)
  await writeFile(manifest, JSON.stringify({ python: '/elsewhere/build-1/bin/python', packages }))
  t.is((await ensure(environments)).built, 2)
})
