import { Refusal } from '../../platform/refusal.ts'
import {
  type DatasetFileFacts,
  datasetFilePath,
  datasetPatch,
  maxDatasetFiles,
} from '../../schemas/datasets/datasets.ts'
import { cardFile, commitOf, type HubCommit, isOfGit } from '../../schemas/hub-facade.ts'
import { exactly } from '../../schemas/validate.ts'
import type { Head, Revised } from './ports.ts'

const faultOfName = exactly(datasetFilePath.properties.path)
const faultOfCard = exactly(datasetPatch)

/** Names of files that a dataset may have. */
export function refuseName(path: string): void {
  if (path === cardFile || isOfGit(path) || faultOfName(path) === null) return
  throw new Refusal(
    'invalid',
    `A dataset cannot have a file ${JSON.stringify(path)}: names consist of letters, digits, ".", "_", "-" and "/", and no part begins with "." or "-"`,
    { code: 'hub.file_name' },
  )
}

/** A file that arrived with the commit, or before. */
export type Added = { upload_id: string } | { sha256: string }

/** An operation on a file whose content is in the store. */
export type Change =
  | { is: 'added'; path: string; file: Added }
  | { is: 'deleted'; path: string }
  | { is: 'folder deleted'; path: string }

type Wanted = {
  dataset: string
  header: HubCommit['header']
  changes: readonly Change[]
  /** Undefined: unchanged. */
  card: string | undefined
}

/** The files after a commit on top of the newest version; 412 if the client builds on another version. */
export function revise(head: Head, { dataset, header, changes, card }: Wanted): Revised {
  refuseOtherParent(head, dataset, header.parentCommit)
  const files = new Map<string, DatasetFileFacts | { name: string; upload_id: string }>(
    head.files.map(file => [file.name, file]),
  )
  for (const { path, ...change } of changes) {
    if (change.is === 'added') files.set(path, addedAs(path, change.file, head))
    else if (!remove(files, path, change.is)) throw noFile(dataset, path)
  }
  if (files.size > maxDatasetFiles)
    throw new Refusal(
      'invalid',
      `A dataset has at most ${maxDatasetFiles} files, not ${files.size}`,
    )
  if (files.size === 0 && head.files.length > 0)
    throw new Refusal('invalid', 'A version has at least one file; delete the version instead')
  const all = [...files.values()]
  return {
    kept: all.filter(file => 'sha256' in file),
    uploads: all.filter(file => !('sha256' in file)),
    settings: card === undefined ? {} : { card },
  }
}

/** A client may name the commit on which it builds by the first digits. */
export function refuseOtherParent(
  head: Pick<Head, 'version' | 'digest'>,
  dataset: string,
  parent: string | null | undefined,
): void {
  const commit = commitOf(head)
  if (!parent || (parent.length >= 5 && commit.startsWith(parent.toLowerCase()))) return
  throw new Refusal(
    'precondition_failed',
    `${dataset} has changed: its newest commit is ${commit}, not ${parent}. Read it again, then repeat the commit`,
    { code: 'hub.parent_commit', data: { commit } },
  )
}

/** Content that this person did not send must be part of the dataset already, where they could read it. */
function addedAs(path: string, file: Added, { files }: Head) {
  if ('upload_id' in file) return { name: path, upload_id: file.upload_id }
  const same = files.find(({ sha256 }) => sha256 === file.sha256)
  if (same) return { ...same, name: path }
  throw new Refusal(
    'invalid',
    `You have not sent the content of ${path}: no file of yours has the SHA-256 ${file.sha256}`,
    { code: 'hub.not_sent', hint: 'Ask for an address with POST …git/info/lfs/objects/batch' },
  )
}

export function remove(
  files: Map<string, unknown>,
  path: string,
  is: 'deleted' | 'folder deleted',
) {
  if (is === 'deleted') return files.delete(path)
  const folder = `${path.replace(/\/+$/, '')}/`
  const below = [...files.keys()].filter(name => name.startsWith(folder))
  for (const name of below) files.delete(name)
  return below.length > 0
}

export const noFile = (dataset: string, path: string) =>
  new Refusal('not_found', `A file with this name doesn't exist: ${dataset} has no ${path}`, {
    code: 'hub.entry_not_found',
  })

/** The card that a commit writes or deletes; undefined if it does neither. */
export function cardIn(operations: HubCommit['operations']): string | undefined {
  const last = operations.findLast(({ value }) => value.path === cardFile)
  if (last === undefined) return undefined
  if (last.key === 'deletedFile') return ''
  if (last.key !== 'file')
    throw new Refusal('invalid', `${cardFile} has to be a part of the commit itself`)
  const card = contentOf(last.value).toString()
  if (faultOfCard({ card }) !== null)
    throw new Refusal(
      'invalid',
      `${cardFile} becomes the card of the dataset, which has at most 50,000 characters`,
    )
  return card
}

export function contentOf({
  path,
  content,
  encoding,
}: {
  path: string
  content: string
  encoding?: 'base64' | 'utf-8'
}): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content)
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content))
    throw new Refusal('invalid', `The content of ${path} is not base64`)
  return Buffer.from(content, 'base64')
}
