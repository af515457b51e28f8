import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { isSensitive } from '../../../../schemas/sensitive-files.ts'
import { exitCode, Failure, usageFailure } from '../../program/failure.ts'
import { size } from '../../terminal/amounts.ts'

export type PackedFile = { path: string; bytes: number }

/** The files of a folder that a job takes along; `links` were left out. */
export type ProjectFiles = { folder: string; files: PackedFile[]; bytes: number; links: string[] }

/** Read in every folder, in this order; later rules count more. Both are written like .gitignore. */
const ignoreFiles = ['.gitignore', '.forgeignore']

/** Files that no program needs from another machine. A `!name` in an ignore file includes them anyway. */
const usuallyLeftOut = [
  ...['.git', '.hg', '.svn', '.forge', '.venv', 'venv', 'node_modules', '.DS_Store'],
  ...['__pycache__', '.ipynb_checkpoints', '.pytest_cache', '.mypy_cache', '.ruff_cache'],
]

/** Far beyond the limit of a server: a folder this big is a mistake. */
const maxFiles = 20_000
const maxBytes = 2 * 1024 ** 3

/** Rules with the folder that their paths are relative to. */
type Rules = { base: string; rules: Ignore }

/** `named` is the folder as a person named it. */
type Finding = ProjectFiles & { named: string }

/** Lists the files of a project, except ignored ones. */
export async function projectFiles(folder: string, named = folder): Promise<ProjectFiles> {
  const isFolder = await stat(folder).then(
    found => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw usageFailure(`${named} is not a folder: name the folder of the project`)
  const found: Finding = { folder, named, files: [], bytes: 0, links: [] }
  await collect(found, '', [{ base: '', rules: ignore().add(usuallyLeftOut) }])
  if (found.files.length === 0) throw usageFailure(`${named} contains no files to pack`)
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return found
}

/** Before anything is sent (specification, "Gates that refuse `POST /api/jobs`", 5). */
export function refuseSensitive({ files }: ProjectFiles): void {
  const sensitive = files.map(({ path }) => path).filter(isSensitive)
  if (sensitive.length === 0) return
  throw new Failure(exitCode.refused, `Sensitive files in the package: ${sensitive.join(', ')}`, {
    lines: [
      'gate: sensitive_file',
      'hint: nothing was sent; name them in .forgeignore, or move them out of the folder',
    ],
    fields: { gate: 'sensitive_file', code: 'sensitive_file', data: { files: sensitive } },
  })
}

async function collect(found: Finding, under: string, outer: readonly Rules[]): Promise<void> {
  const rules = [...outer, ...(await rulesIn(found.folder, under))]
  const entries = await readdir(join(found.folder, under), { withFileTypes: true })
  for (const entry of entries) {
    const path = below(under, entry.name)
    if (isIgnored(rules, entry.isDirectory() ? `${path}/` : path)) continue
    if (entry.isDirectory()) await collect(found, path, rules)
    else if (entry.isFile()) await take(found, path)
    else found.links.push(path)
  }
}

const below = (under: string, name: string) => (under === '' ? name : `${under}/${name}`)

async function take(found: Finding, path: string): Promise<void> {
  const bytes = (await stat(join(found.folder, path))).size
  found.files.push({ path, bytes })
  found.bytes += bytes
  if (found.files.length <= maxFiles && found.bytes <= maxBytes) return
  const largest = [...found.files].sort((a, b) => b.bytes - a.bytes).slice(0, 5)
  throw usageFailure(
    `${found.named} is too big for a package: more than ${maxFiles} files or ${size(maxBytes)}`,
    ...largest.map(file => `  ${size(file.bytes)}  ${file.path}`),
    'hint: name what the job does not need in .forgeignore',
  )
}

async function rulesIn(folder: string, under: string): Promise<Rules[]> {
  const rules: Rules[] = []
  for (const name of ignoreFiles) {
    const text = await readFile(join(folder, under, name), 'utf8').catch(() => null)
    if (text !== null)
      rules.push({ base: under === '' ? '' : `${under}/`, rules: ignore().add(text) })
  }
  return rules
}

/** The last matching rule decides, as in git. */
function isIgnored(all: readonly Rules[], path: string): boolean {
  let isOut = false
  for (const { base, rules } of all) {
    const { ignored, unignored } = rules.test(path.slice(base.length))
    if (ignored) isOut = true
    if (unignored) isOut = false
  }
  return isOut
}
