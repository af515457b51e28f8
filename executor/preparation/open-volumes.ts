import type { Stats } from 'node:fs'
import { chmod, chown, lchown, lstat, mkdir, opendir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Mount } from '../attempts/enclosure.ts'

/** A volume of a run, with its folder on this machine. */
export type OpenVolume = Mount & { name: string }

/** Other users may pass through, but not list it: a run cannot find the volumes of others. */
const modes = { all: 0o711, one: 0o755 }

/**
 * Makes the folders of volumes, and lets the run use them: where runs have users of their own, a run that writes becomes the owner of
 * what earlier runs left, and a run that reads may read it. Nobody else writes meanwhile, because one that writes is alone. Returns
 * `FORGE_VOLUMES`, the paths by the names of the volumes. `work` is the run's own folder.
 */
export async function openVolumes(
  volumes: readonly OpenVolume[],
  work: string,
): Promise<{ variables: Record<string, string>; mounts: Mount[] }> {
  if (volumes.length === 0) return { variables: {}, mounts: [] }
  const { uid } = await stat(work)
  const hasUser = process.getuid?.() === 0 && uid !== 0
  for (const { path: folder, read_only } of volumes) {
    await mkdir(path.dirname(folder), { recursive: true, mode: modes.all })
    await mkdir(folder, { recursive: true, mode: modes.one })
    if (!hasUser) continue
    if (read_only) await openToReaders(folder)
    else await giveTo(folder, uid)
  }
  const paths = Object.fromEntries(volumes.map(({ name, path: folder }) => [name, folder]))
  return {
    variables: { FORGE_VOLUMES: JSON.stringify(paths) },
    mounts: volumes.map(({ path: at, mount_path, read_only }) => ({
      ...{ path: at, mount_path, read_only },
    })),
  }
}

/**
 * Only what belongs to the last owner of the folder is given away: a hard link may lead to a file of somebody else. The folder itself
 * comes last, so that an interrupted call is completed by the next.
 */
async function giveTo(folder: string, uid: number): Promise<void> {
  const { uid: last } = await lstat(folder)
  if (last === uid) return
  await eachIn(folder, async (file, stats) => {
    if (stats.uid === last) await lchown(file, uid, uid)
  })
  await chown(folder, uid, uid)
}

async function openToReaders(folder: string): Promise<void> {
  const { uid: last } = await lstat(folder)
  await eachIn(folder, async (file, stats) => {
    if (stats.uid !== last || stats.isSymbolicLink()) return
    const wanted = stats.mode | (stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o055 : 0o044)
    if (wanted !== stats.mode) await chmod(file, wanted & 0o7777)
  })
  await chmod(folder, modes.one)
}

async function eachIn(
  folder: string,
  visit: (file: string, stats: Stats) => Promise<void>,
): Promise<void> {
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop())
    for await (const { name } of await opendir(next)) {
      const file = path.join(next, name)
      const stats = await lstat(file)
      if (stats.isDirectory()) folders.push(file)
      await visit(file, stats)
    }
}
