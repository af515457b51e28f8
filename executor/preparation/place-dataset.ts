import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, utimes } from 'node:fs/promises'
import path from 'node:path'
import { isErrno, syncDirectory, writeDurably } from '../attempts/durable-json.ts'
import type { ModelToPlace } from '../port.ts'
import { type FetchOptions, fetchStored } from './fetch-stored.ts'
import { inTurn } from './in-turn.ts'
import { listingOf, wholeIn } from './place-stored.ts'

/**
 * The datasets, RL environments and models that runs read, `<directory>/<digest>-<random>/`, shared by all runs that were given the path:
 * `content/data/` has the files, and `files.json` lists them on arrival. Renaming makes the folder appear complete; one of several
 * runs fetches it. Other users may pass through the directory but not list it, so a run cannot find what its owner may not use.
 */
const modes = { file: 0o444, folder: 0o755, directory: 0o711 }

/** Where the server has the files, and the name of the parameter for the reference. */
type From =
  | { path: 'dataset/content'; ref: 'ref' }
  | { path: 'environments/content'; ref: 'environment_ref' }
  | { path: 'model/content'; ref: 'hub_ref' }

/** `arrange`: changes the folder of the files once they are all there. */
type Placing = {
  from: From
  arrange?: (data: string) => Promise<void>
  now: () => Date
} & FetchOptions

/** Returns the path of the folder once all of its files are on this machine, checked by their digests. */
export async function placeFiles(
  wanted: ModelToPlace,
  { directory, ...options }: { directory: string } & Placing,
): Promise<string> {
  const { say, signal } = options
  const digest = wanted.digest.replace(/^sha256:/, '')
  const ready = () => placedIn(directory, { digest, now: options.now() })
  const known = await ready()
  if (known !== null) {
    say(`${wanted.ref} is already here: ${known}`)
    return known
  }
  await mkdir(directory, { recursive: true, mode: modes.directory })
  return inTurn(path.join(directory, `${digest}.fetching.json`), {
    ready,
    onWait: () => say(`another run is fetching ${wanted.ref}; waiting for it`),
    make: () => fetchAll(wanted, { directory, digest }, options),
    signal,
  })
}

/** Marks it as used first: `trim-placed.ts` looks at the mark after it has moved the folder aside. */
async function placedIn(
  directory: string,
  { digest, now }: { digest: string; now: Date },
): Promise<string | null> {
  for (const place of await foldersOf(directory, digest)) {
    const isHere = await utimes(place, now, now).then(
      () => true,
      () => false,
    )
    if (!isHere) continue
    const whole = await wholeIn(place)
    if (whole !== null) return whole
  }
  return null
}

/** Complete ones, and the remains of processes that were killed. */
async function foldersOf(directory: string, digest: string): Promise<string[]> {
  const names = await readdir(directory).catch(error => {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  })
  return names.filter(name => name.startsWith(`${digest}-`)).map(name => path.join(directory, name))
}

async function fetchAll(
  { ref, files }: ModelToPlace,
  { directory, digest }: { directory: string; digest: string },
  { from, arrange, now: _, ...options }: Placing,
): Promise<string> {
  const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  options.say(
    `fetching ${ref}, ${bytes} bytes in ${files.length} ${files.length === 1 ? 'file' : 'files'}`,
  )
  // Left by a killed process, or changed by somebody.
  for (const remains of await foldersOf(directory, digest))
    await rm(remains, { recursive: true, force: true })
  const place = path.join(directory, `${digest}-${randomBytes(16).toString('hex')}`)
  const made = `${place}.new`
  const data = path.join(made, 'content', 'data')
  await mkdir(data, { recursive: true })
  for (const file of files) {
    const target = path.join(data, file.name)
    await mkdir(path.dirname(target), { recursive: true })
    const { sha256, size_bytes, name } = file
    const stored = { artifact_id: ref, path: name, filename: name, sha256, size_bytes }
    const content = { path: from.path, query: { [from.ref]: ref, file: name } }
    await fetchStored(stored, target, { ...options, content })
    await chmod(target, modes.file)
  }
  await arrange?.(data)
  await openFolders(made)
  await writeDurably(path.join(made, 'files.json'), await listingOf(path.dirname(data), 'data'))
  await rename(made, place)
  await syncDirectory(directory)
  const whole = await wholeIn(place)
  if (whole === null) throw new Error(`${ref} changed while it was put in place`)
  return whole
}

/** Runs may be other users, who read what only this one writes. */
async function openFolders(directory: string): Promise<void> {
  await chmod(directory, modes.folder)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) await chmod(path.join(entry.parentPath, entry.name), modes.folder)
}
