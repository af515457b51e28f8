import { readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { isErrno } from '../attempts/durable-json.ts'

type Trimming = {
  directory: string
  /** How many bytes may stay. */
  mostBytes: number
  /** The digests, without their prefix, that unfinished jobs need. */
  inUse: () => Promise<ReadonlySet<string>>
  now: Date
}

type Placed = { name: string; digest: string; bytes: number; usedAt: number }

/** Folders that were used more recently stay, because their run may not be known as their user yet. */
const restMs = 3_600_000
const folderName = /^([0-9a-f]{64})-[0-9a-f]{32}$/
const removedName = /\.removed$/
const fetchingName = /^[0-9a-f]{64}-[0-9a-f]{32}\.new$/
/** No fetch takes that long. */
const remainsMs = 24 * 3_600_000

/**
 * Deletes the least recently used versions and models of `place-dataset.ts` until the rest fits, but none that an unfinished job needs.
 * Returns how many were deleted.
 */
export async function trimPlaced({ directory, mostBytes, inUse, now }: Trimming): Promise<number> {
  const names = await readdir(directory).catch(error => {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  })
  for (const name of names.filter(one => removedName.test(one) || fetchingName.test(one)))
    await removeRemains(path.join(directory, name), now)
  const placed = (await Promise.all(names.map(name => lookAt(directory, name)))).flatMap(
    one => one ?? [],
  )
  let bytes = placed.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes <= mostBytes) return 0
  const needed = await inUse()
  const removable = placed
    .filter(({ digest, usedAt }) => !needed.has(digest) && usedAt <= now.getTime() - restMs)
    .sort((a, b) => a.usedAt - b.usedAt)
  let removed = 0
  for (const one of removable) {
    if (bytes <= mostBytes) break
    if (!(await remove(directory, one))) continue
    bytes -= one.bytes
    removed++
  }
  return removed
}

/** Left by a process that was killed, unless it is young. */
async function removeRemains(place: string, now: Date): Promise<void> {
  const found = await stat(place).catch(() => null)
  if (found === null) return
  if (fetchingName.test(path.basename(place)) && found.mtimeMs > now.getTime() - remainsMs) return
  await rm(place, { recursive: true, force: true })
}

async function lookAt(directory: string, name: string): Promise<Placed | null> {
  const [, digest] = folderName.exec(name) ?? []
  if (digest === undefined) return null
  const place = path.join(directory, name)
  try {
    const usedAt = (await stat(place)).mtimeMs
    return { name, digest, usedAt, bytes: await sizeOf(place) }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

async function sizeOf(place: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(place, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(path.join(entry.parentPath, entry.name))).size
  return bytes
}

/** False if a run began to use it at the same moment: it marks the folder before it checks that the folder is there. */
async function remove(directory: string, { name, usedAt }: Placed): Promise<boolean> {
  const place = path.join(directory, name)
  const aside = `${place}.removed`
  try {
    await rename(place, aside)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
  if ((await stat(aside)).mtimeMs > usedAt) {
    await rename(aside, place)
    return false
  }
  await rm(aside, { recursive: true, force: true })
  return true
}
