import { createHash, randomUUID } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../platform/files/content.ts'
import { BadBackup } from './refused.ts'

/** Who may do what with a restored file; `owner` (user and group) only if the backup was made by root. */
export type Access = { mode: number; owner: [uid: number, gid: number] | null }

/** A file in the data directory; `path` is relative to it, with `/`. */
export type FileEntry = Access & {
  path: string
  size: number
  mtime_ms: number
  sha256: string
  /** The SHA-256 of its parts, in order (`store.ts`); absent if the file is its only part. */
  parts?: string[]
}

export type FolderEntry = Access & { path: string }
export type LinkEntry = { path: string; target: string }

/** Files, folders and symbolic links below one folder. */
export type Tree = { files: FileEntry[]; folders: FolderEntry[]; links: LinkEntry[] }

export type DatabaseEntry = {
  /** `cluster`: the files of the embedded PostgreSQL; `dump`: the output of pg_dump, in `dumpPath`. */
  kind: 'cluster' | 'dump'
  /** PostgreSQL's major version. */
  major: number
  /** Rows of each table, `schema.table`; null if they could not be counted at the instant of the backup. */
  counts: Record<string, number> | null
}

export type Manifest = Tree & {
  /** The time of its beginning, also its name: `20261126T180545123Z`. */
  id: string
  /** Which installation it is of: PostgreSQL's system identifier, and the database. */
  installation: string
  began_at: string
  ended_at: string
  /** The version of Forge that made it. */
  forge: string
  database: DatabaseEntry
  /** Files that were not readable, or whose names are not UTF-8; only runs can leave such files. */
  left_out: number
}

/** Where a manifest names the output of pg_dump, among the files of the data directory. */
export const dumpPath = 'database.dump'

export const partsOf = ({ size, sha256, parts }: FileEntry): readonly string[] =>
  size === 0 ? [] : (parts ?? [sha256])

/** Names sort by time. */
export const idOf = (at: Date): string => at.toISOString().replace(/[-:.]/g, '')

const isId = (text: string): boolean => /^\d{8}T\d{9}Z$/.test(text)

/** The time in an id; null for any other text. */
export function timeOf(id: string): Date | null {
  if (!isId(id)) return null
  const text = id.replace(
    /^(....)(..)(..)T(..)(..)(..)(...)Z$/,
    (_, year, month, day, hour, minute, second, ms) =>
      `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`,
  )
  const at = new Date(text)
  return Number.isNaN(+at) ? null : at
}

/** Appears whole or not at all. The first line holds the digest of the rest. */
export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  const body = JSON.stringify(manifest)
  const fresh = join(dirname(file), `.${randomUUID()}`)
  try {
    const handle = await open(fresh, 'wx', 0o600)
    try {
      await handle.writeFile(`${headOf(body)}\n${body}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(fresh, file)
    await syncFolder(dirname(file))
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Throws `BadBackup` if a byte of it has changed, or a newer version wrote it. */
export async function readManifest(file: string): Promise<Manifest> {
  const text = await readFile(file, 'utf8')
  const end = text.indexOf('\n')
  const body = text.slice(end + 1, -1)
  if (end === -1 || text.slice(0, end) !== headOf(body))
    throw new BadBackup([
      `${file}: the manifest is damaged, or a newer version of Forge has written it`,
    ])
  const manifest: Manifest = JSON.parse(body)
  for (const { path } of [...manifest.files, ...manifest.folders, ...manifest.links])
    checkPath(path)
  return manifest
}

const headOf = (body: string) =>
  `forge backup 1 sha256:${createHash('sha256').update(body).digest('hex')}`

/** A manifest may come from elsewhere, and must not lead out of the folder that is restored. */
function checkPath(path: string): void {
  const names = path.split('/')
  if (names.some(name => ['', '.', '..'].includes(name)) || path.includes('\0'))
    throw new BadBackup([`the manifest names a file outside the data directory: ${path}`])
}
