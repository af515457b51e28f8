import { dirname } from 'node:path'
import type { Enclosure, Mount } from '../attempts/enclosure.ts'
import { coversIn, isIn, seenIn } from './hidden-paths.ts'

/** The descriptor on which bubblewrap reports the pid of the namespace's first process. */
export const infoDescriptor = 4

/**
 * Arguments for a file system of the listed paths only, with its own processes, messages and names. The
 * network is the host's, because the run reports to the server. Later mounts cover earlier ones.
 */
export function bubblewrapArguments(enclosure: Enclosure): string[] {
  const { identity, writable, devices, tmp, mounts = [] } = enclosure
  const seen = seenIn(enclosure)
  const { folders, files } = coversIn(seen)
  refuseOverlaps(mounts, [...seen.shown, ...seen.inside, ...writable, ...devices])
  const each = (option: string, paths: readonly string[]) =>
    paths.flatMap(path => [option, path, path])
  return [
    ...['--die-with-parent', '--new-session', '--info-fd', String(infoDescriptor)],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    // Root takes another identity inside, and keeps nothing but the right to do so.
    ...(identity === null
      ? ['--unshare-user']
      : ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']),
    // First, on the empty root: nothing is made inside them, and none covers what follows.
    ...foldersAbove(mounts.map(({ mount_path }) => mount_path)),
    ...mounts.flatMap(({ path, mount_path, read_only }) => [
      ...[read_only ? '--ro-bind' : '--bind', path, mount_path],
    ]),
    ...foldersAbove(['/var/tmp']),
    ...['--bind', tmp, '/tmp', '--bind', tmp, '/var/tmp'],
    ...foldersAbove(seen.shown),
    ...each('--ro-bind-try', seen.shown),
    ...folders.flatMap(folder => ['--tmpfs', folder]),
    ...files.flatMap(file => ['--ro-bind', '/dev/null', file]),
    ...['--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['--ro-bind', '/sys', '/sys'],
    ...each('--dev-bind-try', devices),
    ...foldersAbove([...seen.inside, ...writable]),
    ...each('--ro-bind-try', seen.inside),
    ...each('--bind', writable),
    ...folders.flatMap(folder => ['--remount-ro', folder]),
    ...['--remount-ro', '/', '--chdir', '/'],
  ]
}

const ownFolders = ['/tmp', '/var/tmp', '/proc', '/dev', '/sys']

/** A folder below another one would be made in the files of that one. */
function refuseOverlaps(mounts: readonly Mount[], taken: readonly string[]): void {
  mounts.forEach(({ mount_path }, index) => {
    const others = mounts.slice(0, index).map(one => one.mount_path)
    const inTheWay = [...others, ...ownFolders, ...taken].find(
      one => isIn(one, mount_path) || isIn(mount_path, one),
    )
    if (inTheWay !== undefined)
      throw new Error(
        `no volume can be mounted at ${mount_path}, because the run also needs ${inTheWay}`,
      )
  })
}

/** Bubblewrap would make them, but for root alone to enter. */
function foldersAbove(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  const add = (folder: string): void => {
    if (folder === '/' || folders.has(folder)) return
    add(dirname(folder))
    folders.add(folder)
  }
  for (const path of paths) add(dirname(path))
  return [...folders].flatMap(folder => ['--perms', '0755', '--dir', folder])
}
