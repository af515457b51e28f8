import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { hostEnvironment } from '../../executor/node/environment.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import { recipeCommand } from '../../executor/preparation/recipe-command.ts'
import { sha256Of } from '../../platform/files/content.ts'
import { recipeDigest } from '../../recipes/digest.ts'
import { packed } from '../platform/files/tar-of.ts'
import { folder, writeRecipe } from '../recipes/tiny-recipe.ts'
import { patient } from '../servers/patience.ts'
import { exitOf, launch } from './attempts.ts'
import { isolationAt, systemPython } from './bench.ts'
import { outputOf } from './output.ts'
import { givenCommand, preparedBy } from './preparations.ts'
import { whatHolds } from './what-holds.ts'

/** Prints the content of its working folder, and changes it. */
const program = `
import json, os
found = {}
for place, folders, files in os.walk("."):
    for name in files:
        file = os.path.join(place, name)
        found[os.path.relpath(file)] = [open(file).read(), os.access(file, os.X_OK)]
with open("src/a.txt", "a") as file: file.write("changed")
open("src/new.txt", "w").close()
os.mkdir("made")
os.rename("tool.sh", "made/tool.sh")
print(json.dumps(found))
`

const content = packed(
  { path: 'src/a.txt', content: 'first' },
  { path: 'tool.sh', content: 'true', mode: 0o755 },
  { path: 'empty/', type: '5' },
)

async function scene(t: ExecutionContext, setting: IsolationSetting, archive = content) {
  const root = await folder(t)
  // Users of runs have to pass it.
  await chmod(root, 0o755)
  const runs = path.join(root, 'runs')
  const executor = await openLocalExecutor({
    runsDirectory: runs,
    isolation: await isolationAt(runs, setting),
    fakeGpus: 1,
    hostEnvironment: hostEnvironment(process.env),
    preparationCommand: givenCommand,
    now: () => new Date(),
  })
  const recipe = await writeRecipe(path.join(root, 'recipe'), { 'train.py': program })
  await writeRecipe(path.join(root, 'client'), {})
  const file = path.join(root, 'package')
  await writeFile(file, archive)
  const sha256 = await sha256Of(file)
  const run_id = 'run_packed'
  return {
    file,
    work: (attempt: number) => path.join(runs, run_id, String(attempt), 'work'),
    async run(attempt = 1, limit_bytes = 1_000_000) {
      const command = recipeCommand({
        recipe_directory: recipe,
        digest: await recipeDigest(recipe),
        runtime_id: 'rt_test',
        entrypoint: 'train.py',
        attempt,
        package: { file, sha256, limit_bytes },
        starts: null,
        data: null,
        volumes: [],
        environments_directory: path.join(root, 'environments'),
        client_directory: path.join(root, 'client'),
        python: systemPython,
      })
      const ref = await executor.submit(
        launch({ run_id, attempt, preparation: preparedBy(command) }),
      )
      const { exit_code } = await exitOf(executor, ref)
      const { stdout, stderr } = await outputOf(executor, ref)
      return { code: exit_code, text: `${stdout}${stderr}` }
    },
  }
}

const unpacked = { 'src/a.txt': ['first', false], 'tool.sh': ['true', true] }
const holds = await whatHolds()
const modes = (['none', 'bubblewrap', 'user', 'landlock'] as const).filter(
  mode => mode === 'none' || holds[mode] === null,
)

for (const mode of modes)
  test.serial(
    `a run finds the files of its package, its own to change, in every attempt: ${mode}`,
    async t => {
      t.timeout(patient(400_000))
      const { run, work } = await scene(t, mode)
      for (const attempt of [1, 2]) {
        const { code, text } = await run(attempt)
        t.is(code, 0, text)
        t.regex(text, /\[forge\] the package has 2 files, 9 bytes/)
        t.deepEqual(JSON.parse(text.trim().split('\n').at(-1) ?? ''), unpacked)
        t.deepEqual((await readdir(work(attempt))).sort(), ['empty', 'made', 'src'])
        const [folder, file] = [await stat(work(attempt)), await stat(`${work(attempt)}/src/a.txt`)]
        t.is(folder.uid, file.uid)
        t.is(folder.mode & 0o007, 0, 'closed to other users')
        t.is(file.mode & 0o007, 0, 'closed to other users')
      }
    },
  )

test.serial(
  'a package that changed, is gone or differs from the checked one starts nothing',
  async t => {
    t.timeout(patient(400_000))
    const outcomes = [
      ['is not the one that was admitted', content, 1_000_000, Buffer.from('other')],
      ['expands to more than 2048 bytes', content, 2048, null],
      [
        'contains conf/.env, which no run',
        packed({ path: 'conf/.env', content: 'x' }),
        1_000_000,
        null,
      ],
      ['leads out of the folder', packed({ path: '../../evil', content: 'x' }), 1_000_000, null],
    ] as const
    for (const [why, archive, limit, later] of outcomes) {
      const { run, file, work } = await scene(t, 'none', archive)
      if (later) await writeFile(file, later)
      const { code, text } = await run(1, limit)
      t.is(code, 78, text)
      t.true(text.includes(why), text)
      t.deepEqual(await readdir(work(1)), [])
      t.false((await readdir(path.dirname(work(1)))).some(name => name.startsWith('package-')))
    }
  },
)
