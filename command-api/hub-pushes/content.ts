import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { maxEntries, readPacked } from '../../platform/files/archive.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folderInName, storedName } from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import { cardFile } from '../../schemas/hub-facade.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { findArtifact } from '../rules/find-artifact.ts'
import { gitHash } from '../rules/git-id.ts'
import type { ListedFile } from './rows.ts'

/** An artifact in the store: a file, or a folder packed in one. */
export type Content = {
  artifact_id: string
  run_id: string
  filename: string
  sha256: string
  metrics: Readonly<Record<string, number>>
}

const refused = (detail: string) => new Refusal('invalid', detail, { code: 'hub.source' })

/** The artifact, if this person may read it and the hub can have it. */
export async function contentFor(
  pool: Pool,
  asking: Asking,
  artifact_id: string,
): Promise<Content> {
  const found = await findArtifact(pool, { artifact_id, run_id: null, select: null }, asking)
  if (!found) throw refused(`No such artifact: ${artifact_id}`)
  if (found.deleted_at !== null) throw refused(`The artifact ${artifact_id} was deleted`)
  const { kind, metrics } = found
  if (kind !== 'hf_export')
    throw refused(`${artifact_id} is of kind ${kind}; the hub gets those of hf_export`)
  const { path, sha256, run_id } = found
  const filename = storedName(path)
  if (!isInStore(path) || sha256 === null || filename === null)
    throw refused(`The bytes of ${artifact_id} are not in the store of Forge, but at ${path}`)
  return { artifact_id, run_id, filename, sha256, metrics: metrics ?? {} }
}

/** The same for a person who asked earlier, and may have lost their rights. */
export async function contentOfOwner(
  pool: Pool,
  { owner, artifact_id }: { owner: string; artifact_id: string | null },
): Promise<Content> {
  if (artifact_id === null) throw refused('The run left no artifact of kind hf_export')
  const role = await roleIfEnabled(pool, owner)
  if (role === null) throw refused(`${owner} may not sign in any more`)
  return contentFor(pool, { username: owner, role }, artifact_id)
}

type Store = Pick<Deps, 'artifacts'>
type Take = (
  file: { name: string; size_bytes: number },
  bytes: AsyncIterable<Buffer>,
) => Promise<void>

/** Reads the files one by one. Content that `take` does not read is skipped. */
export async function eachFile(
  { artifacts }: Store,
  { sha256, filename }: Content,
  { take, signal }: { take: Take; signal: AbortSignal },
): Promise<void> {
  const size = await artifacts.sizeOf(sha256)
  const source = size === null ? null : await artifacts.read(sha256, null, signal)
  if (source === null || size === null) throw refused("Forge's store has lost the artifact")
  if (folderInName(filename) === null) {
    try {
      await take({ name: filename, size_bytes: size }, source)
    } finally {
      source.destroy()
    }
    return
  }
  // Our clients' archives do not expand.
  const limits = { expandedBytes: 20 * size + 10 * 1024 * 1024, entries: maxEntries }
  await readPacked({ source, size }, limits, async ({ kind, path, size: size_bytes }, bytes) => {
    signal.throwIfAborted()
    if (kind === 'file') await take({ name: path, size_bytes }, bytes)
  })
}

/** As many as an import may have. */
const maxFiles = 1000
const maxNameBytes = 512
const maxCardBytes = 64 * 1024
const sampleBytes = 512

/** Names and digests of all files, and the text of the export's own card. */
export async function listFiles(store: Store, content: Content, signal: AbortSignal) {
  const files: ListedFile[] = []
  let card = ''
  await eachFile(store, content, {
    signal,
    async take(file, bytes) {
      if (files.length >= maxFiles)
        throw refused(`The artifact has more than ${maxFiles} files, the maximum for the hub`)
      if (Buffer.byteLength(file.name) > maxNameBytes)
        throw refused(`The name of a file is too long for the hub: ${file.name.slice(0, 100)}`)
      const keeps = file.name === cardFile && file.size_bytes <= maxCardBytes
      const { kept, ...listed } = await digest(file, bytes, keeps)
      if (keeps) card = kept.toString()
      files.push(listed)
    },
  })
  if (files.length === 0) throw refused('The artifact has no files')
  return { files, card }
}

async function digest(
  { name, size_bytes }: { name: string; size_bytes: number },
  bytes: AsyncIterable<Buffer>,
  keeps: boolean,
): Promise<ListedFile & { kept: Buffer }> {
  const sha256 = createHash('sha256')
  const git = gitHash(size_bytes)
  const first: Buffer[] = []
  let known = 0
  for await (const chunk of bytes) {
    sha256.update(chunk)
    git.update(chunk)
    if (keeps || known < sampleBytes) first.push(chunk)
    known += chunk.length
  }
  const kept = Buffer.concat(first)
  return {
    ...{ name, size_bytes, sha256: sha256.digest('hex'), oid: git.digest('hex') },
    ...{ sample: kept.subarray(0, sampleBytes).toString('base64'), kept },
  }
}

/** A text as the file that it becomes. */
export function fileOfText(name: string, text: string): ListedFile {
  const bytes = Buffer.from(text)
  return {
    ...{ name, size_bytes: bytes.length },
    sha256: createHash('sha256').update(bytes).digest('hex'),
    oid: gitHash(bytes.length).update(bytes).digest('hex'),
    sample: bytes.subarray(0, sampleBytes).toString('base64'),
  }
}
