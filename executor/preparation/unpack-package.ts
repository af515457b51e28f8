import { randomUUID } from 'node:crypto'
import { chmod, chown, lstat, mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Contents } from '../../platform/files/archive.ts'
import { hasCode, sha256Of } from '../../platform/files/content.ts'
import { unpackArchive } from '../../platform/files/unpack.ts'
import { isSensitive } from '../../schemas/artifacts/sensitive-files.ts'
import type { RecipePlan } from './recipe-plan.ts'

/**
 * Puts the files of a package into the empty working folder of an attempt, before its program starts. They are unpacked into a
 * new folder next to it that no other user may enter, with all checks of the upload repeated; that folder is given to the owner
 * of the working folder and replaces it as a whole.
 */
export async function unpackPackage(
  { file, sha256, limit_bytes }: NonNullable<RecipePlan['package']>,
  work: string,
): Promise<Contents> {
  if ((await digestOf(file)) !== sha256)
    throw new Error(`the package on this machine is not the one that was admitted (${sha256})`)
  const { uid, gid, mode } = await lstat(work)
  const owner = process.getuid?.() === 0 ? { uid, gid } : null
  const fresh = path.join(path.dirname(work), `package-${randomUUID()}`)
  await mkdir(fresh, { mode: 0o700 })
  try {
    const contents = await unpackArchive(file, fresh, {
      limitBytes: limit_bytes,
      modes: { file: 0o640, program: 0o750, folder: 0o750 },
      owner,
      takes: refuseSensitive,
    })
    if (owner) await chown(fresh, uid, gid)
    await chmod(fresh, mode & 0o777)
    // Replaces an empty folder only.
    await rename(fresh, work)
    return contents
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  }
}

function refuseSensitive({ kind, path: name }: { kind: 'file' | 'folder'; path: string }): true {
  if (kind === 'file' && isSensitive(name))
    throw new Error(`the package contains ${name}, which no run may receive`)
  return true
}

async function digestOf(file: string): Promise<string> {
  try {
    return await sha256Of(file)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new Error('the package of the job is not, or no longer, on this machine', {
      cause: error,
    })
  }
}
