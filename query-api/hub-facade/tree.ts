import { sha256Hex } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { TreeEntry } from '../../schemas/hub-facade.ts'
import type { Repo, RepoFile } from './repo.ts'

type Asked = { folder: string; recursive: boolean; cursor: string | undefined; limit: number }

/** A page of the files and folders below a folder, by path; `next`: the cursor of the next page. */
export function treeOf(
  { id, files }: Pick<Repo, 'id' | 'files'>,
  { folder, recursive, cursor, limit }: Asked,
): { entries: TreeEntry[]; next: string | null } {
  const prefix = folder === '' ? '' : `${folder.replace(/\/+$/, '')}/`
  const file = files.find(({ path }) => path === folder)
  if (file) return { entries: [toEntry(file)], next: null }
  const below = files.filter(({ path }) => path.startsWith(prefix))
  if (prefix !== '' && below.length === 0) throw noEntry(id, folder)
  const entries = new Map(below.flatMap(file => entriesOf(file, prefix, recursive)))
  const all = [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  const rest = cursor === undefined ? all : all.filter(({ path }) => path > cursor)
  const page = rest.slice(0, limit)
  return { entries: page, next: rest.length > limit ? (page.at(-1)?.path ?? null) : null }
}

/** A file with its folders; unless `recursive`, the outermost of these, or the file if there is none. */
function entriesOf(file: RepoFile, prefix: string, recursive: boolean): [string, TreeEntry][] {
  const parts = file.path.slice(prefix.length).split('/')
  const folders = parts
    .slice(0, recursive ? -1 : Math.min(1, parts.length - 1))
    .map((_, at) => prefix + parts.slice(0, at + 1).join('/'))
  const isShown = recursive || parts.length === 1
  return [
    ...folders.map((path): [string, TreeEntry] => [path, toFolder(path)]),
    ...(isShown ? [[file.path, toEntry(file)] as [string, TreeEntry]] : []),
  ]
}

/** Entries of these paths, without missing ones. */
export function entriesAt({ files }: Pick<Repo, 'files'>, paths: readonly string[]): TreeEntry[] {
  return paths.flatMap(path => {
    const file = files.find(one => one.path === path)
    if (file) return toEntry(file)
    return files.some(one => one.path.startsWith(`${path}/`)) ? toFolder(path) : []
  })
}

/** Clients check a git hash in no place, so that the start of a digest stands for it. */
const oidOf = (sha256: string) => sha256.slice(0, 40)

/** The bytes of the pointer that git would have in place of the file. */
const pointerSize = 134

const toEntry = ({ path, size, sha256, text }: RepoFile): TreeEntry => ({
  ...{ type: 'file', path, size, oid: oidOf(sha256) },
  ...(text === null && { lfs: { oid: sha256, size, pointerSize } }),
})

const toFolder = (path: string): TreeEntry => ({
  ...{ type: 'directory', path, size: 0, oid: oidOf(sha256Hex(path)) },
})

export const noEntry = (id: string, path: string): Refusal =>
  new Refusal('not_found', `${id} has no ${path} at this revision`, {
    code: 'hub.entry_not_found',
  })
