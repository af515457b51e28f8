import { sha256Hex } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import { standsAtLeast } from '../../schemas/datasets/access.ts'
import { cardFile, commitOf, parseRevision } from '../../schemas/hub-facade.ts'
import type { HubReads, Reader } from './reader.ts'

/** A file of a repository; `text` if it is not in the store, `within` if it is a part of an archive there. */
export type RepoFile = {
  path: string
  size: number
  sha256: string
  text: string | null
  within: Archived | null
}
export type Archived = { sha256: string; size: number; offset: number }

/** What clients of the Hub see as a repository at a revision. */
export type Repo = {
  type: 'dataset' | 'model'
  id: string
  author: string
  license: string | null
  isPrivate: boolean
  /** Whether the files may be read, too. */
  mayUse: boolean
  created_at: Date
  changed_at: Date
  commit: string
  /** By path. */
  files: RepoFile[]
}

type Name = { owner: string; name: string }

export async function datasetRepo(
  hub: HubReads,
  reader: Reader,
  named: Name & { revision?: string },
): Promise<Repo> {
  const { row, may } = await hub.findDataset(reader, named)
  const id = `${row.owner}/${row.name}`
  const version = await versionOfDataset(hub, reader, {
    ...named,
    revision: named.revision ?? 'main',
  })
  const card = row.card === '' ? [] : [fileOfText(cardFile, row.card)]
  const files = version.files.map(({ name, sha256, size_bytes }) => ({
    ...{ path: name, sha256, size: size_bytes, text: null, within: null },
  }))
  return {
    type: 'dataset',
    ...{ id, author: row.owner, license: row.license },
    isPrivate: row.visibility === 'private',
    mayUse: standsAtLeast(may, 'use'),
    ...{ created_at: row.created_at, changed_at: version.created_at ?? row.created_at },
    commit: commitOf(version),
    files: inOrder([...card, ...files]),
  }
}

type DatasetVersion = {
  version: number
  digest: string
  created_at: Date | null
  files: { name: string; sha256: string; size_bytes: number }[]
}
/** What `main` is before the first version. */
const nothingYet: DatasetVersion = { version: 0, digest: '', created_at: null, files: [] }

async function versionOfDataset(
  { reads }: HubReads,
  reader: Reader,
  { owner, name, revision }: Name & { revision: string },
): Promise<DatasetVersion> {
  const wanted = parseRevision(revision)
  const all = reads
    .as(reader)
    .selectFrom('dataset_versions')
    .select(['version', 'digest', 'state', 'created_at', 'files'])
    .where('owner', '=', owner)
    .where('name', '=', name)
    .orderBy('version', 'desc')
    .limit(1)
  const newest = await all.executeTakeFirst()
  if (wanted.is === 'main' || (wanted.is === 'commit' && wanted.version === 0)) {
    if (!newest) return nothingYet
    const ready = await all.where('state', '=', 'ready').executeTakeFirst()
    if (ready && wanted.is === 'main') return ready
    throw noRevision(
      `${owner}/${name} has no ready version; ${owner}/${name}@${newest.version} is ${newest.state}`,
    )
  }
  const found =
    wanted.is === 'alias'
      ? undefined
      : await all.where('version', '=', wanted.version).executeTakeFirst()
  if (!found || (wanted.is === 'commit' && commitOf(found) !== wanted.commit))
    throw noRevision(`The dataset ${owner}/${name} has no revision ${revision}`)
  return found
}

/** Names of revisions with their commits. */
export type Tag = { name: string; commit: string }

export async function tagsOfDataset(
  { reads }: HubReads,
  reader: Reader,
  { owner, name }: Name,
): Promise<Tag[]> {
  const rows = await reads
    .as(reader)
    .selectFrom('dataset_versions')
    .select(['version', 'digest'])
    .where('owner', '=', owner)
    .where('name', '=', name)
    .orderBy('version')
    .execute()
  return rows.map(row => ({ name: `v${row.version}`, commit: commitOf(row) }))
}

const fileOfText = (path: string, text: string): RepoFile => ({
  ...{ path, text, within: null, size: Buffer.byteLength(text), sha256: sha256Hex(text) },
})

export const inOrder = (files: readonly RepoFile[]): RepoFile[] =>
  files.toSorted((a, b) => (a.path < b.path ? -1 : 1))

export const noRevision = (detail: string): Refusal =>
  new Refusal('not_found', detail, { code: 'hub.revision_not_found' })
