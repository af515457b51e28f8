import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { access, constants, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSensitive } from '../../../../schemas/artifacts/sensitive-files.ts'
import { exitCode, Failure, usageFailure } from '../../program/failure.ts'
import { size } from '../../terminal/amounts.ts'
import { builtInRules, type RuleSet, rulesIn, whyLeftOut } from './ignore-rules.ts'

export type PackedFile = { path: string; bytes: number }

/** A path that stays here; folders end with a slash, and stand for everything in them. */
export type LeftOut = {
  path: string
  why: string
  /** Whether a rule names it. Packages hold only plain files, so anything else also stays. */
  isIgnored: boolean
}

/** The files of a folder that a job takes along. */
export type ProjectFiles = {
  folder: string
  files: PackedFile[]
  bytes: number
  leftOut: LeftOut[]
}

/** Far beyond the limit of a server: a folder this big is a mistake. */
const maxFiles = 20_000
const maxBytes = 2 * 1024 ** 3

/** `named` is the folder as a person named it. */
type Finding = ProjectFiles & { named: string }

/** Lists the files of a project, except ignored ones. */
export async function projectFiles(folder: string, named = folder): Promise<ProjectFiles> {
  const isFolder = await stat(folder).then(
    found => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw usageFailure(`${named} is not a folder: name the folder of the project`)
  const found: Finding = { folder, named, files: [], bytes: 0, leftOut: [] }
  await collect(found, '', [builtInRules()])
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

async function collect(found: Finding, under: string, outer: readonly RuleSet[]): Promise<void> {
  const rules = [...outer, ...(await rulesIn(found.folder, under))]
  for (const { entry, name } of await entriesOf(found, under)) {
    const path = below(under, name)
    const why = whyLeftOut(rules, path, entry.isDirectory())
    if (why !== null)
      found.leftOut.push({ path: entry.isDirectory() ? `${path}/` : path, why, isIgnored: true })
    else if (entry.isDirectory()) await collect(found, path, rules)
    else if (entry.isFile()) await take(found, path)
    else found.leftOut.push({ path, why: kindOf(entry), isIgnored: false })
  }
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isSymbolicLink()) return 'a symbolic link'
  if (entry.isFIFO()) return 'a FIFO'
  if (entry.isSocket()) return 'a socket'
  return entry.isBlockDevice() || entry.isCharacterDevice() ? 'a device' : 'not a plain file'
}

/** Names that are not UTF-8 cannot be requested, or unpacked, by their names. */
async function entriesOf({ folder, named, leftOut }: Finding, under: string) {
  const path = join(folder, under)
  const options = { withFileTypes: true, encoding: 'buffer' } as const
  const entries = await readdir(path, options).catch(error => {
    throw unreadable(join(named, under), error)
  })
  if (entries.length === 0 && under !== '')
    leftOut.push({ path: `${under}/`, why: 'an empty folder', isIgnored: false })
  return entries.map(entry => {
    const name = entry.name.toString()
    if (isUtf8(entry.name)) return { entry, name }
    const shown = join(named, under, entry.name.toString('latin1'))
    throw usageFailure(
      `${JSON.stringify(shown)} cannot be packed: its name is not UTF-8`,
      'hint: rename it, or move it out of the folder',
    )
  })
}

/** A file or folder that cannot be packed. */
export const unreadable = (path: string, { code, message }: NodeJS.ErrnoException): Failure =>
  usageFailure(
    `${path} cannot be read: ${code ?? message}`,
    'hint: make it readable, or name it in .forgeignore',
  )

const below = (under: string, name: string) => (under === '' ? name : `${under}/${name}`)

async function take(found: Finding, path: string): Promise<void> {
  const at = join(found.folder, path)
  const bytes = await access(at, constants.R_OK)
    .then(async () => (await stat(at)).size)
    .catch(error => {
      throw unreadable(join(found.named, path), error)
    })
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
