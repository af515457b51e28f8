import { Readable } from 'node:stream'
import { sha256Hex } from '../../platform/digest.ts'
import {
  type FolderFile,
  filesInFolder,
  isFolderPath,
  maxFolderFiles,
  unpackedFile,
} from '../../platform/files/stored-folder.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folderInName, storedName } from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import { type HubCommit, type HubOperation, isOfGit } from '../../schemas/hub-facade.ts'
import type { Deps } from '../deps.ts'
import type { ModelHead } from '../rules/newest-model-version.ts'
import { contentOf, noFile, refuseOtherParent, remove } from './files.ts'
import type { HubPorts, HubRequest, Writer } from './ports.ts'

type Store = Pick<Deps, 'artifacts'>

/** A file of a model, wherever its bytes are. */
export type ModelFile = FolderFile & { open: () => Promise<Readable> }
export type Head = ModelHead & { files: readonly ModelFile[] }

export function refuseModelPath(path: string): void {
  if (isOfGit(path) || isFolderPath(path)) return
  throw new Refusal('invalid', `A model cannot have a file ${JSON.stringify(path.slice(0, 500))}`, {
    code: 'hub.file_name',
  })
}

/** The newest version with its files; a folder that was not sent by a client of the Hub has none that could be taken over. */
export async function headOfModel(deps: Store, ports: HubPorts, model: string): Promise<Head> {
  const head = await ports.models.headOf(model)
  return { ...head, files: await filesOf(deps, head) }
}

async function filesOf({ artifacts }: Store, { stored }: ModelHead): Promise<ModelFile[]> {
  if (stored === null || !isInStore(stored.path)) return []
  const { path, sha256 } = stored
  const name = storedName(path)
  const size = await artifacts.sizeOf(sha256)
  if (name === null || size === null) return []
  const read = artifacts.read.bind(artifacts, sha256)
  if (folderInName(name) === null)
    return isFolderPath(name)
      ? [{ path: name, size, sha256, open: async () => here(await read(null)) }]
      : []
  const archive = { size, read }
  const files = (await filesInFolder(archive)) ?? []
  return files.map(({ offset, ...file }) => ({
    ...file,
    open: async () => here(await unpackedFile(archive, { ...file, offset })),
  }))
}

function here(content: Readable | null): Readable {
  if (content === null)
    throw new Refusal('backend_failed', "Forge's store has lost a file of the model", {
      code: 'artifact.lost',
    })
  return content
}

type Sent = { id: string; writer: Writer; commit: HubCommit; head: Head }

/** The files after a commit on top of the newest version, by path. */
export async function filesAfter(
  deps: Store,
  ports: HubPorts,
  request: HubRequest,
  { id, writer, commit: { header, operations }, head }: Sent,
): Promise<ModelFile[]> {
  refuseOtherParent(head, id, header.parentCommit)
  const files = new Map(head.files.map(file => [file.path, file]))
  const concerned = operations.filter(({ value }) => !isOfGit(value.path))
  for (const { value } of concerned) refuseModelPath(value.path.replace(/\/+$/, ''))
  for (const operation of concerned) {
    const { key, value } = operation
    if (key === 'deletedFile' || key === 'deletedFolder') {
      const is = key === 'deletedFile' ? 'deleted' : 'folder deleted'
      if (!remove(files, value.path, is)) throw noFile(id, value.path)
    } else files.set(value.path, await addedFile(deps, ports, request, { writer, operation, head }))
  }
  refuseFiles([...files.keys()], head)
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

type Adding = { writer: Writer; operation: HubOperation; head: Head }

async function addedFile(
  { artifacts }: Store,
  ports: HubPorts,
  request: HubRequest,
  { writer, operation, head }: Adding,
): Promise<ModelFile> {
  const { path } = operation.value
  if (operation.key === 'file') {
    const content = contentOf(operation.value)
    const open = async () => Readable.from([content])
    return { path, size: content.length, sha256: sha256Hex(content), open }
  }
  if (operation.key !== 'lfsFile') throw new Error(`${operation.key} adds no file`)
  const { oid: sha256, size } = operation.value
  const known = head.files.find(file => file.sha256 === sha256)
  if (known) return { ...known, path }
  const owner = writer.username
  const isSent =
    size !== undefined &&
    (await ports.registerFile(request, { owner, sha256, size_bytes: size })) !== null
  if (!isSent)
    throw new Refusal(
      'invalid',
      `You have not sent the content of ${path}: no file of yours has the SHA-256 ${sha256}`,
      { code: 'hub.not_sent', hint: 'Ask for an address with POST …git/info/lfs/objects/batch' },
    )
  return { path, size, sha256, open: async () => here(await artifacts.read(sha256, null)) }
}

/** No file may be where another needs a folder. */
function refuseFiles(paths: readonly string[], head: Head): void {
  if (paths.length > maxFolderFiles)
    throw new Refusal('invalid', `A model has at most ${maxFolderFiles} files, not ${paths.length}`)
  if (paths.length === 0 && head.version > 0)
    throw new Refusal('invalid', 'A version has at least one file; archive the version instead')
  const all = new Set(paths)
  const foldersOf = (path: string) =>
    path.split('/').flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join('/')]))
  const clash = paths.find(path => foldersOf(path).some(folder => all.has(folder)))
  if (clash !== undefined)
    throw new Refusal('invalid', `${clash} needs a folder that the model has as a file`, {
      code: 'hub.file_name',
    })
}

/** Whether a commit changes nothing. */
export const isSame = (files: readonly ModelFile[], head: Head): boolean =>
  files.length === head.files.length &&
  files.every(({ path, sha256 }) =>
    head.files.some(one => one.path === path && one.sha256 === sha256),
  )
