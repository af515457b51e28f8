import { createHash } from 'node:crypto'
import type { ObjectStore } from './port.ts'

/** What is really kept under a digest, read from its first byte to its last; null if there is nothing. */
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
