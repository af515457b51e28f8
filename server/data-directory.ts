import { chmod } from 'node:fs/promises'
import type { Logger } from 'pino'

/**
 * Keeps others out of the data directory, also one that an earlier version left open. As root, other users may pass
 * through it, but not list it: the embedded database and isolated runs have users of their own.
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
