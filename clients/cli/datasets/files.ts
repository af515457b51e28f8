import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { validateInThread } from '../../../datasets/in-thread.ts'
import type { DatasetFile, DatasetReport, Kind, NamedTokenizer } from '../../../datasets/report.ts'
import { splitOf } from '../../../datasets/splits.ts'
import { usageFailure } from '../program/failure.ts'
import { type Process, pathIn } from '../program/process.ts'
import type { World } from '../program/session.ts'
import { size } from '../terminal/amounts.ts'

/** A file on this machine: `name` is what the dataset calls it. */
export type LocalFile = { path: string; name: string; bytes: number }

/** As the server accepts names of files. */
const allowedName = /^[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/

/** The named files, and those in named folders, which keep their place in the folder as their name. */
export async function localFiles(
  process: Pick<Process, 'cwd'>,
  named: readonly string[],
): Promise<LocalFile[]> {
  const found = await Promise.all(named.map(name => filesAt(pathIn(process, name), name)))
  const files = found.flat().sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const [at, { name }] of files.entries()) {
    if (!allowedName.test(name))
      throw usageFailure(`${name}: names of files have letters, digits and . _ - only; rename it`)
    if (name === files[at + 1]?.name)
      throw usageFailure(`Two files are named ${name}: put them in folders, and name these`)
  }
  if (files.length === 0) throw usageFailure(`No files in ${named.join(', ')}`)
  return files
}

async function filesAt(path: string, named: string): Promise<LocalFile[]> {
  const found = await stat(path).catch(error => {
    throw usageFailure(`${named} cannot be read (${error.code})`)
  })
  if (!found.isDirectory()) return [{ path, name: basename(path), bytes: found.size }]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile() && !entry.name.startsWith('.'))
  return Promise.all(
    files.map(async entry => {
      const file = join(entry.parentPath, entry.name)
      return { path: file, name: relative(path, file), bytes: (await stat(file)).size }
    }),
  )
}

/** A large chunk takes fewer messages to the thread that reads it. */
const chunkBytes = 1024 * 1024

const toDatasetFile = ({ path, name, bytes }: LocalFile): DatasetFile => ({
  name,
  size: bytes,
  split: splitOf(name),
  open: async range =>
    createReadStream(path, {
      highWaterMark: chunkBytes,
      ...(range && { start: range.first, end: range.last }),
    }),
})

/** Reads the files as the server will, and shows how far it has come. */
export async function checkFiles(
  { terminal }: World,
  files: readonly LocalFile[],
  options: { kind: Kind | null; tokenizer: NamedTokenizer | null },
): Promise<DatasetReport> {
  try {
    return await validateInThread(files.map(toDatasetFile), options, {
      signal: new AbortController().signal,
      progress: ({ bytes, of, rows }) =>
        terminal.status(`checked ${size(bytes)} of ${size(of)}, ${rows.toLocaleString('en')} rows`),
    })
  } finally {
    terminal.status(null)
  }
}

export async function tokenizerIn(process: Pick<Process, 'cwd'>, named: string): Promise<object> {
  const text = await readFile(pathIn(process, named), 'utf8').catch(error => {
    throw usageFailure(`${named} cannot be read (${error.code})`)
  })
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null) return json
  } catch {
    // As any other content that is no object.
  }
  throw usageFailure(`${named} is not the JSON of a tokenizer`)
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}
