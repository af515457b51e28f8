import { accessSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

export type SpoolRoot = {
  path: string
  /** The home directory cannot hold it. */
  isTemporary: boolean
}

/**
 * The folder of unsent reports, as the Python client selects it (`spool_root` in `clients/python/src/forge/config.py`). In
 * a container the home directory may belong to somebody else, or not be a directory.
 */
export function spoolRootOf(env: Record<string, string | undefined>): SpoolRoot {
  if (env.FORGE_SPOOL_DIR) return { path: env.FORGE_SPOOL_DIR, isTemporary: false }
  const path = join(env.HOME || homedir(), '.forge', 'spool')
  if (canHold(path)) return { path, isTemporary: false }
  const temporary = join(env.TMPDIR || tmpdir(), `forge-spool-${userInfo().uid}`)
  return isOurs(temporary) ? { path: temporary, isTemporary: true } : { path, isTemporary: false }
}

/** Whether the folder, or the nearest one above that exists, lets us write. */
function canHold(path: string): boolean {
  const above = dirname(path)
  try {
    if (!statSync(path).isDirectory()) return false
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' && above !== path && canHold(above)
  }
}

/** Creates it if it is missing. In a folder that anybody can write to, it may be somebody else's, and reports carry a token. */
function isOurs(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const found = lstatSync(path)
    return found.isDirectory() && found.uid === userInfo().uid && (found.mode & 0o077) === 0
  } catch {
    return false
  }
}
