import { link, open, readFile, rename, unlink } from 'node:fs/promises'
import path from 'node:path'
import { parseOwnFile } from '../../platform/damaged-file.ts'

/** Replaces the file atomically; it is on disk before this returns. Mode 0600, as records may hold secrets. */
export async function writeDurably(file: string, value: unknown): Promise<void> {
  const fresh = await writeBeside(file, value)
  await rename(fresh, file)
  await syncDirectory(path.dirname(file))
}

/** Like `writeDurably`, but false if the file exists: of many writers exactly one gets true. */
export async function createDurably(file: string, value: unknown): Promise<boolean> {
  const fresh = await writeBeside(file, value)
  try {
    // link(), unlike rename(), refuses an existing target; readers never see a half-written file.
    await link(fresh, file)
    await syncDirectory(path.dirname(file))
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  } finally {
    await unlink(fresh)
  }
}

/**
 * Null if the file does not exist; `DamagedFile`, with `remedy`, if it is not JSON. Not validated further: only this
 * program writes these files.
 */
export async function readJson<T>(file: string, remedy?: string): Promise<T | null> {
  try {
    return parseOwnFile<T>(file, await readFile(file, 'utf8'), remedy)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

let writes = 0

async function writeBeside(file: string, value: unknown): Promise<string> {
  const fresh = `${file}.${process.pid}.${++writes}.new`
  const handle = await open(fresh, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(value))
    await handle.sync()
    return fresh
  } catch (error) {
    await unlink(fresh)
    throw error
  } finally {
    await handle.close()
  }
}
