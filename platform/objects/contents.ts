import { createHash } from 'node:crypto'
import type { ObjectStore } from './port.ts'

/** Size and digest of the content stored under a digest, read in full; null if there is none. */
export async function contentOf(
  store: Pick<ObjectStore, 'read'>,
  sha256: string,
  signal: AbortSignal,
): Promise<{ size: number; sha256: string } | null> {
  const stream = await store.read(sha256, null, signal)
  if (stream === null) return null
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of stream) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}
