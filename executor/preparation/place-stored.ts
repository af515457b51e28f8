import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { unpackArchive } from '../../platform/files/unpack.ts'
import { folderInName } from '../../schemas/artifacts/artifacts.ts'
import { isErrno, readJson, syncDirectory, writeDurably } from '../attempts/durable-json.ts'
import type { StoredArtifact } from '../port.ts'
import { type FetchOptions, fetchStored } from './fetch-stored.ts'
import { NotFetched } from './not-fetched.ts'

/**
 * The artifacts that a run starts from, `<run>/starts/<artifact_id>/`, for all of its attempts: `content/<name>` is the file,
 * or the folder that was packed in it, and `files.json` lists its files on arrival. Renaming makes the folder appear complete;
 * several ranks may create it at the same time.
 */
type Listing = { name: string; files: { path: string; size: number; mtime_ms: number }[] }

/** The limit of an archive's expansion, for each of its bytes plus a constant; our client's archives do not expand. */
const expansion = { factor: 20, bytes: 10 * 1024 * 1024 }
const modes = { file: 0o444, program: 0o555, folder: 0o755 }

/**
 * Returns the path of the artifact once it is on this machine. `scratch` is a folder of this attempt on the same disk, in which a
 * crash may leave an unfinished one.
 */
export async function placeStored(
  artifact: StoredArtifact,
  { directory, scratch, ...options }: { directory: string; scratch: string } & FetchOptions,
): Promise<string> {
  const { say } = options
  const place = path.join(directory, artifact.artifact_id)
  const known = await wholeIn(place)
  if (known !== null) {
    say(`${artifact.artifact_id} is already here: ${known}`)
    return known
  }
  const work = path.join(scratch, `fetching-${randomUUID()}`)
  await mkdir(work, { mode: 0o700 })
  try {
    say(`fetching ${artifact.artifact_id} (${artifact.path}), ${artifact.size_bytes} bytes`)
    const made = await makeIn(work, artifact, options)
    await mkdir(directory, { recursive: true, mode: 0o755 })
    return await putInPlace(made, place, path.join(work, 'aside'))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Deletes artifacts that earlier attempts of the run started from but this one does not. */
export async function removeOthers(directory: string, wanted: readonly string[]): Promise<void> {
  const names = await readdir(directory).catch(error => {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  })
  for (const name of names.filter(found => !wanted.includes(found)))
    await rm(path.join(directory, name), { recursive: true, force: true })
}

async function makeIn(
  work: string,
  artifact: StoredArtifact,
  options: FetchOptions,
): Promise<string> {
  const { filename } = artifact
  const made = path.join(work, 'made')
  const content = path.join(made, 'content')
  await mkdir(content, { recursive: true })
  const folder = folderInName(filename)
  const name = folder ?? filename
  if (folder === null) {
    await fetchStored(artifact, path.join(content, name), options)
    await chmod(path.join(content, name), modes.file)
  } else {
    const archive = path.join(work, 'archive')
    await fetchStored(artifact, archive, options)
    await mkdir(path.join(content, name))
    await unpack(artifact, archive, path.join(content, name))
    await rm(archive)
  }
  for (const one of [made, content]) await chmod(one, modes.folder)
  await writeDurably(path.join(made, 'files.json'), await listingOf(content, name))
  return made
}

async function unpack(artifact: StoredArtifact, archive: string, folder: string): Promise<void> {
  const limitBytes = artifact.size_bytes * expansion.factor + expansion.bytes
  try {
    await unpackArchive(archive, folder, { limitBytes, modes, owner: null, takes: () => true })
    await chmod(folder, modes.folder)
  } catch (error) {
    if (isErrno(error, 'ENOSPC', 'EDQUOT'))
      throw new NotFetched(artifact, 'there is no room on this machine for its unpacked contents')
    throw new NotFetched(artifact, error instanceof Error ? error.message : String(error))
  }
}

/** Whatever is there by then: the files of another rank, or incomplete remains. */
async function putInPlace(made: string, place: string, aside: string): Promise<string> {
  for (;;) {
    try {
      await rename(made, place)
      await syncDirectory(path.dirname(place))
    } catch (error) {
      if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error
    }
    const whole = await wholeIn(place)
    if (whole !== null) return whole
    await rename(place, aside).catch(error => {
      if (!isErrno(error, 'ENOENT')) throw error
    })
  }
}

/** Its path, if it is still complete and unchanged: on some executors runs can write to it. */
export async function wholeIn(place: string): Promise<string | null> {
  const listed = await readJson<Listing>(path.join(place, 'files.json'))
  if (listed === null) return null
  const content = path.join(place, 'content')
  const found = await listingOf(content, listed.name).catch(error => {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  })
  const isSame = JSON.stringify(found) === JSON.stringify(listed)
  return isSame ? path.join(content, listed.name) : null
}

export async function listingOf(content: string, name: string): Promise<Listing> {
  const entries = await readdir(content, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => !entry.isDirectory())
  const looked = files.map(async entry => {
    const file = path.join(entry.parentPath, entry.name)
    const { size, mtimeMs } = await lstat(file)
    return { path: path.relative(content, file), size, mtime_ms: mtimeMs }
  })
  const listed = await Promise.all(looked)
  return { name, files: listed.sort((a, b) => (a.path < b.path ? -1 : 1)) }
}
