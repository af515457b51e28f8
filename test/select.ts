import { execFile } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** `slice` if only the files that this slice needs are selected. */
export type Selection = { files: string[]; isWhole: boolean; slice?: string }

/** The test files selected by the arguments of `npm test`, by their paths from the root. */
export async function select(args: readonly string[]): Promise<Selection> {
  const [first, name = ''] = args
  const all = await filesOf('test/**/*.test.ts')
  if (first === undefined) return { files: all, isWhole: true }
  if (first === '--slice') return { files: ofSlice(all, name), isWhole: false, slice: name }
  if (first === '--changed')
    return { files: reachedBy(await changes(name), await imports()), isWhole: false }
  const unknown = args.filter(file => file.startsWith('-'))
  if (unknown.length > 0)
    throw new Error(
      `unknown: ${unknown.join(' ')}; known are --slice NAME, --changed [REV], --record and files`,
    )
  return { files: args.map(normalize), isWhole: false }
}

async function filesOf(pattern: string): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob(pattern, { exclude: name => name === 'node_modules' }))
    files.push(file)
  return files.sort()
}

/** Tests shared by every slice: the samples drive these, or they read every folder. */
const shared =
  /^test\/(samples|architecture|events)\/|^test\/whole\/(authorization|row-security)\/(routes|tables)\./

/** Architecture tests of what no slice contains. */
const ofNoSlice = /^test\/architecture\/(audit|lanes|licences|runner|sbom)\./

function ofSlice(all: readonly string[], slice: string): string[] {
  const own = all.filter(file => file.startsWith(`test/${slice}/`))
  if (own.length === 0) throw new Error(`there is no folder test/${slice}/ with tests`)
  return [...own, ...all.filter(file => shared.test(file) && !ofNoSlice.test(file))]
}

/** Files that differ from `rev` (by default the last commit), and untracked ones. */
async function changes(rev: string): Promise<string[]> {
  const git = async (...words: string[]) =>
    (await run('git', words, { maxBuffer: 2 ** 26 })).stdout.split('\n').filter(Boolean)
  const [changed, added] = await Promise.all([
    git('diff', '--name-only', rev === '' ? 'HEAD' : rev),
    git('ls-files', '--others', '--exclude-standard'),
  ])
  return [...new Set([...changed, ...added])]
}

/** The files that each TypeScript file names in quotation marks: imported, started or read. */
export type Imports = ReadonlyMap<string, readonly string[]>

/** It finds the samples in its folder, so no import shows that it needs them. */
const ofSamples = 'test/samples/all.ts'

/** It starts any server, so its imports do not show who needs the samples; those tests import `test/samples/server.ts`. */
const host = 'test/servers/host.ts'

/** The imports of every file of the repository. */
export async function imports(): Promise<Imports> {
  const files = await filesOf('**/*.{ts,tsx}')
  const samples = files.filter(file => file.startsWith(`${dirname(ofSamples)}/`))
  return new Map(
    await Promise.all(
      files.map(async file => {
        const named = namedIn(file, await readFile(file, 'utf8'))
        if (file === host) return [file, named.filter(path => !samples.includes(path))] as const
        return [file, file === ofSamples ? [...named, ...samples] : named] as const
      }),
    ),
  )
}

export function namedIn(file: string, text: string): string[] {
  const quoted = [...text.matchAll(/'(\.{1,2}\/[^'\s]+|[\w-]+(?:\/[\w.-]+)*\.tsx?)'/g)]
  return quoted.flatMap(([, path = '']) => {
    const beside = normalize(join(dirname(file), path))
    return path.startsWith('.') ? [beside] : [beside, normalize(path)]
  })
}

/** Read by programs at run time, so no import shows who needs them. */
const everybodys = /\.sql$|^package(-lock)?\.json$|^(ava\.config\.js|tsconfig\.json)$/

/** The test files that reach one of `changed` through the files they name, and the architecture tests, which read all files. */
export function reachedBy(changed: readonly string[], named: Imports): string[] {
  const tests = [...named.keys()].filter(file => file.endsWith('.test.ts')).sort()
  if (changed.length === 0) return []
  if (changed.some(file => everybodys.test(file))) return tests
  const users = new Map<string, string[]>()
  for (const [file, paths] of named)
    for (const path of paths) users.set(path, [...(users.get(path) ?? []), file])
  const reached = new Set<string>(changed)
  for (const file of reached)
    for (const user of [file, dirname(file)].flatMap(path => users.get(path) ?? []))
      reached.add(user)
  return tests.filter(file => reached.has(file) || file.startsWith('test/architecture/'))
}
