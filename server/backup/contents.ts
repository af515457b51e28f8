import { type FileEntry, partsOf } from './manifest.ts'
import { BadBackup } from './refused.ts'
import { type BackupStore, type Bytes, WholeDigest } from './store.ts'

/** The content of a file, part by part. Throws `BadBackup`, which names the file, if any byte has changed. */
export async function* contentOf(store: BackupStore, entry: FileEntry): AsyncGenerator<Bytes> {
  const whole = new WholeDigest()
  let size = 0
  for (const part of partsOf(entry)) {
    const bytes = await store.get(part).catch(error => {
      throw error instanceof BadBackup ? new BadBackup([`${entry.path}: ${error.faults}`]) : error
    })
    await whole.add(bytes)
    size += bytes.length
    yield bytes
  }
  if (size !== entry.size || whole.hex() !== entry.sha256)
    throw new BadBackup([`${entry.path}: its parts are not those of this file`])
}
