import { access, chmod, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { CannotStart } from '../platform/cannot-start.ts'

/** Uploaded files: if several hosts serve an installation, a folder that all of them mount. */
export const uploadsIn = ({ dataDir }: { dataDir: string }): string => join(dataDir, 'uploads')

/** Datasets that were fetched for the runs of this machine, or of this cluster. */
export const datasetsIn = (directory: string): string => join(directory, 'datasets')

/** The volumes of people: on this machine, or in the shared folder of a cluster. */
export const volumesIn = (directory: string): string => join(directory, 'volumes')

/** Uploaded recipes, unpacked for the runs on this machine. */
export const recipesIn = ({ dataDir }: { dataDir: string }): string => join(dataDir, 'recipes')

export async function makeDataDirectory(path: string): Promise<void> {
  try {
    await makeFolders(path)
    await access(path, constants.W_OK)
  } catch (cause) {
    throw new CannotStart(
      `The server cannot keep its data in ${path} (${(cause as Error).message}); set SERVICE_DATA_DIR to a folder that this user may write.`,
      cause,
    )
  }
}

/**
 * One folder at a time: Node's `recursive` option loops endlessly where the kernel allows no new folders, as in
 * /proc.
 */
async function makeFolders(path: string): Promise<void> {
  const isFolder = () => stat(path).then(found => found.isDirectory())
  if (await isFolder().catch(() => false)) return
  if (dirname(path) !== path) await makeFolders(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch(async error => {
    // Created by another process that is starting at the same time.
    if (!(await isFolder().catch(() => false))) throw error
  })
}

/**
 * Closes the data directory to other users, even one that an earlier version left open. If this process is root,
 * other users may pass through it but not list it: the embedded database and isolated runs have their own users.
 */
export async function closeDataDirectory(path: string, logger: Logger): Promise<void> {
  const isRoot = process.getuid?.() === 0
  try {
    await chmod(path, isRoot ? 0o711 : 0o700)
  } catch (error) {
    // A mounted volume may belong to another user.
    logger.warn({ err: error, path }, 'the data directory could not be closed to other users')
  }
}
