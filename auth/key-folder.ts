import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where signing keys are kept, as PEM by name; all processes of an installation share it. */
export type KeyStore = {
  /** The names of all keys in use. */
  kids(): Promise<string[]>
  /** Null if another process has just removed it. */
  read(kid: string): Promise<string | null>
  /** Stores a key that is not in use yet; returns how to put it in use. */
  prepare(kid: string, pem: string): Promise<() => Promise<void>>
  remove(kid: string): Promise<void>
}

const suffix = '.pem'

/** PEM files of mode 0600 in a folder, which is created. */
export async function keyFolder(folder: string): Promise<KeyStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const pathOf = (kid: string) => join(folder, kid + suffix)
  return {
    async kids() {
      const names = await readdir(folder)
      return names.filter(name => name.endsWith(suffix)).map(name => name.slice(0, -suffix.length))
    },
    read: kid =>
      readFile(pathOf(kid), 'utf8').catch(error => {
        if (error.code === 'ENOENT') return null
        throw error
      }),
    async prepare(kid, pem) {
      await writeFile(`${pathOf(kid)}.new`, pem, { mode: 0o600 })
      return () => rename(`${pathOf(kid)}.new`, pathOf(kid))
    },
    remove: kid => rm(pathOf(kid), { force: true }),
  }
}
