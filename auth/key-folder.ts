import { createPrivateKey } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedFile } from '../platform/damaged-file.ts'

/** Where the keys that sign and seal are kept, as PEM by name; all processes of an installation share it. */
export type KeyStore = {
  /** The names of all keys in use. */
  kids(): Promise<string[]>
  /** Null if another process has just removed it; throws if it is no key any longer. */
  read(kid: string): Promise<string | null>
  /** Stores a key that is not in use yet; returns how to put it in use. */
  prepare(kid: string, pem: string): Promise<() => Promise<void>>
  remove(kid: string): Promise<void>
}

const suffix = '.pem'
/** What the names of keys that seal texts begin with (sealing-keys.ts); all others sign. */
export const sealingPrefix = 'sealing-'
const remedyOf = (kid: string) =>
  kid.startsWith(sealingPrefix)
    ? 'restore it from a backup, or remove it: jobs that wait with secrets in spec.env then fail, and must be submitted again, and people with a second factor need a recovery code.'
    : 'restore it from a backup, or remove it: people whose access token it signed sign in again.'

function isKey(pem: string): boolean {
  try {
    createPrivateKey(pem)
    return true
  } catch {
    return false
  }
}

/** PEM files of mode 0600 in a folder, which is created. */
export async function keyFolder(folder: string): Promise<KeyStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const pathOf = (kid: string) => join(folder, kid + suffix)
  return {
    async kids() {
      const names = await readdir(folder)
      return names.filter(name => name.endsWith(suffix)).map(name => name.slice(0, -suffix.length))
    },
    async read(kid) {
      const pem = await readFile(pathOf(kid), 'utf8').catch(error => {
        if (error.code === 'ENOENT') return null
        throw error
      })
      if (pem !== null && !isKey(pem)) throw new DamagedFile(pathOf(kid), pem, remedyOf(kid))
      return pem
    },
    async prepare(kid, pem) {
      // Flushed before it gets its name, which could otherwise outlive a crash without its content.
      await writeFile(`${pathOf(kid)}.new`, pem, { mode: 0o600, flush: true })
      return () => rename(`${pathOf(kid)}.new`, pathOf(kid))
    },
    remove: kid => rm(pathOf(kid), { force: true }),
  }
}
