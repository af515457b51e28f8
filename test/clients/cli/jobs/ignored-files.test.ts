import { execFileSync, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { projectFiles } from '../../../../clients/cli/jobs/package/files.ts'
import { pack } from '../../../../clients/cli/jobs/package/pack.ts'
import { Failure } from '../../../../clients/cli/program/failure.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { patient } from '../../../servers/patience.ts'

type Files = Record<string, string>

async function project(t: ExecutionContext, files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-project-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await fill(folder, files)
  return folder
}

async function fill(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'core.excludesFile=/dev/null', '-C', folder, ...args], {
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    encoding: 'utf8',
  })

const keptByGit = (folder: string): string[] =>
  git(folder, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter(Boolean)
    .sort()

const packed = async (folder: string): Promise<string[]> =>
  (await projectFiles(folder)).files.map(({ path }) => path).sort()

const name = fc.constantFrom(
  ...[
    'data',
    'Data',
    'DATA',
    'a.log',
    'A.LOG',
    'b.Log',
    'src',
    'é',
    'É',
    'x y',
    '[z]',
    '#n',
    '!m',
    'build',
  ],
)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join('/'))
const glob = fc.constantFrom(
  ...[
    'data',
    'Data',
    '*.log',
    '*.LOG',
    'src',
    '*',
    '**',
    '?',
    '??',
    'é',
    '[a-z]*',
    '[!d]*',
    '[[:upper:]]*',
  ],
  ...['x y', 'x\\ y', '\\#n', '\\!m', '\\[z\\]', 'b*', 'd?ta', 'D[aA]*', 'build', '*a*'],
)
const rule = fc
  .record({
    negative: fc.boolean(),
    anchored: fc.boolean(),
    globs: fc.array(glob, { minLength: 1, maxLength: 3 }),
    isFolder: fc.boolean(),
    end: fc.constantFrom('', '', ' ', '\r'),
  })
  .map(
    ({ negative, anchored, globs, isFolder, end }) =>
      `${negative ? '!' : ''}${anchored ? '/' : ''}${globs.join('/')}${isFolder ? '/' : ''}${end}`,
  )
const rules = fc.array(rule, { minLength: 1, maxLength: 5 }).map(lines => `${lines.join('\n')}\n`)
const tree = fc.record({
  paths: fc.array(path, { minLength: 1, maxLength: 12 }),
  rules,
  inner: fc.option(fc.record({ folder: path, rules }), { nil: undefined }),
  mark: fc.boolean(),
})

/** Leaves out paths that would have to be a file and a folder. */
function filesOf(paths: readonly string[]): Files {
  const files: Files = {}
  for (const path of paths) {
    const taken = Object.keys(files)
    if (!taken.some(other => `${path}/`.startsWith(`${other}/`) || other.startsWith(`${path}/`)))
      files[path] = ''
  }
  return files
}

test('a package holds what git would add, on any tree and with any rules', async t => {
  t.timeout(patient(240_000))
  let differing = 0
  await fc.assert(
    fc.asyncProperty(tree, async ({ paths, rules, inner, mark }) => {
      const folder = await mkdtemp(join(tmpdir(), 'forge-tree-'))
      try {
        const files = filesOf(paths)
        const folders = Object.keys(files).map(path => dirname(path))
        await fill(folder, {
          ...files,
          'always.py': '',
          '.gitignore': `${mark ? '\ufeff' : ''}${rules}!/always.py\n`,
        })
        if (inner && folders.includes(inner.folder))
          await fill(folder, { [`${inner.folder}/.gitignore`]: inner.rules })
        git(folder, 'init', '-q')
        const kept = keptByGit(folder)
        if (Object.keys(files).some(path => !kept.includes(path))) differing += 1
        return (await packed(folder)).join('\n') === kept.join('\n')
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    }),
    { numRuns: 250 },
  )
  t.true(differing > 50, 'the rules left something out')
})

test('no rule takes back what belongs to git', async t => {
  const folder = await project(t, {
    '.forgeignore': '!*\n!.git\n',
    '.git/config': '',
    'sub/.git/x': '',
  })
  t.deepEqual(await packed(folder), ['.forgeignore'])
})

test('rules tell upper and lower case apart, as git does', async t => {
  const folder = await project(t, {
    '.gitignore': 'data/\nmanifest\n*.LOG\n',
    ...{
      'Data/__init__.py': '',
      'data/x': '',
      MANIFEST: '',
      manifest: '',
      'train.log': '',
      'a.LOG': '',
    },
  })
  t.deepEqual(await packed(folder), ['.gitignore', 'Data/__init__.py', 'MANIFEST', 'train.log'])
})

test('a later rule set includes again what an earlier one excludes, folders with their contents', async t => {
  const folder = await project(t, {
    '.gitignore': 'data/\n*.bin\nodd [name]*/\n',
    '.forgeignore': '!data/\n!.venv\n!odd*/\n/data/tmp\n',
    ...{ 'data/a.csv': '', 'data/deep/b.csv': '', 'data/tmp/c.csv': '', 'data/d.bin': '' },
    ...{
      '.venv/lib/x.py': '',
      '.venv/__pycache__/x.pyc': '',
      'odd [name]*/e': '',
      'sub/data/f': '',
    },
    ...{ 'own/.gitignore': 'g/\n', 'own/.forgeignore': '!g/\n', 'own/g/h.py': '' },
  })
  t.deepEqual(await packed(folder), [
    ...['.forgeignore', '.gitignore', '.venv/lib/x.py', 'data/a.csv', 'data/deep/b.csv'],
    ...['odd [name]*/e', 'own/.forgeignore', 'own/.gitignore', 'own/g/h.py', 'sub/data/f'],
  ])
})

const unused = { FORGE_HOST: 'http://127.0.0.1:9', FORGE_TOKEN: 'any' }
const submit = ['submit', '--recipe', 'digits', '--project', 'demo', '--package']

test('forge submit --dry-run lists what goes and why the rest stays, and sends nothing', async t => {
  const folder = await project(t, {
    '.gitignore': '# notes\n*.log\n',
    ...{
      'a.py': 'x'.repeat(2000),
      'b.log': '',
      '__pycache__/a.pyc': '',
      'sub/.forgeignore': 'c\n',
      'sub/c': '',
    },
  })
  const { run } = await commandLine(t, unused)
  const shown = await run([...submit, folder, '--dry-run'])
  t.is(shown.code, 0, shown.stderr)
  t.is(shown.stdout, '     14 B  .gitignore\n   2.0 kB  a.py\n      2 B  sub/.forgeignore\n')
  t.is(
    shown.stderr,
    [
      'left out  __pycache__/  (usually left out)',
      'left out  b.log  (.gitignore:2: *.log)',
      'left out  sub/c  (sub/.forgeignore:1: c)',
      'package: 3 files, 2.0 kB; nothing was sent or submitted\n',
    ].join('\n'),
  )
  const json = JSON.parse((await run([...submit, folder, '--dry-run', '--json'])).stdout)
  t.like(json, { bytes: 2016, files: [{ bytes: 14 }, { bytes: 2000 }, { bytes: 2 }] })
  t.is(json.left_out.length, 3)
  t.is((await run([...submit.slice(0, -1), '--dry-run'])).code, 2)
})

test('a file that cannot be packed is named, and is a mistake of usage', async t => {
  const folder = await project(t, { 'a.py': '' })
  const { run } = await commandLine(t, unused)
  const bad = Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff])])
  await writeFile(bad, '')
  const named = await run([...submit, folder])
  t.is(named.code, 2)
  t.regex(
    named.stderr,
    /^error: "[^\n]*\/badÿ" cannot be packed: its name is not UTF-8\n {2}hint: [^\n]*\n$/,
  )
  await writeFile(join(folder, '.forgeignore'), 'bad?\n')
  t.is((await run([...submit, folder, '--dry-run'])).code, 2, 'no rule can be shown that names it')
  await rm(bad)

  const nowhere = await run([...submit, folder], {
    env: { TMPDIR: '/nonexistent' },
    inItsOwnProcess: true,
  })
  t.is(nowhere.code, 6, 'the server is asked first')
})

test('a file that vanishes, a folder that vanishes, and an unwritable place are named', async t => {
  const folder = await project(t, { 'a.py': '', 'sub/b.py': '' })
  const files = await projectFiles(folder)
  await rm(join(folder, 'sub'), { recursive: true })
  const vanished = await t.throwsAsync(pack(files), { instanceOf: Failure })
  t.like(vanished, { exitCode: 2 })
  t.regex(vanished?.message ?? '', /sub\/b\.py cannot be read: ENOENT$/)

  const module = join(import.meta.dirname, '../../../../clients/cli/jobs/package')
  const script = `import('${module}/files.ts').then(async ({ projectFiles }) => {
    const { pack } = await import('${module}/pack.ts')
    await pack(await projectFiles('${folder}'))
  }).catch(error => console.log(error.exitCode, error.message))`
  const node = (env: Record<string, string>, uid?: number) =>
    new Promise<string>(resolve => {
      const child = spawn(process.execPath, ['-e', script], {
        ...{ env: { PATH: process.env.PATH ?? '', ...env }, cwd: '/' },
        ...(uid !== undefined && { uid }),
      })
      let text = ''
      child.stdout.on('data', chunk => {
        text += chunk
      })
      child.once('close', () => resolve(text))
    })
  t.is(
    await node({ TMPDIR: '/nonexistent' }),
    '2 The package cannot be written to /nonexistent: ENOENT\n',
  )
  // Everything is readable for root.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  await chmod(folder, 0o755)
  await writeFile(join(folder, 'secret.bin'), '')
  await chmod(join(folder, 'secret.bin'), 0)
  t.is(await node({}, uid), `2 ${folder}/secret.bin cannot be read: EACCES\n`)
  await rm(join(folder, 'secret.bin'))
  await mkdir(join(folder, 'closed'), { mode: 0o300 })
  t.is(await node({}, uid), `2 ${folder}/closed cannot be read: EACCES\n`)
})
