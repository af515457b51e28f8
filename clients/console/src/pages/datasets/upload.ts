import type { Static } from 'typebox'
import type { uploadProgress, uploadTarget } from '../../../../../schemas/uploads.ts'
import { belowBasePath } from '../../session/base-path.ts'
import { ApiFailure, isPassing } from '../../session/failure.ts'
import { request } from '../../session/session.ts'

/** One request sends this much: a broken connection loses little, and progress shows. */
const pieceBytes = 4 * 1024 * 1024
/** Failed requests in a row. */
const maxFailures = 6

type Sending = { signal: AbortSignal; onSent: (bytes: number) => void }

/** Sends a file of a dataset and registers it; returns its upload. A broken connection is continued where it ended. */
export async function sendFile(file: File, { signal, onSent }: Sending): Promise<string> {
  const target = await request<Static<typeof uploadTarget>>('POST', '/api/uploads', {
    body: {
      ...{ purpose: 'dataset', filename: file.name, size_bytes: file.size },
      content_type: 'application/octet-stream',
    },
    signal,
  })
  await sendPieces(file, target, { signal, onSent })
  await request('POST', `/api/uploads/${target.upload_id}/complete`, { signal })
  return target.upload_id
}

async function sendPieces(
  file: File,
  { url, headers, received_bytes }: Static<typeof uploadTarget>,
  { signal, onSent }: Sending,
): Promise<void> {
  const { pathname, search } = new URL(url)
  const put = async (range: string, bytes: Blob) => {
    const reply = await request<Static<typeof uploadProgress>>(
      'PUT',
      belowBasePath(pathname) + search,
      { bytes, headers: { ...headers, 'content-range': `bytes ${range}/${file.size}` }, signal },
    )
    return reply.received_bytes
  }
  let at = received_bytes
  for (let failures = 0; at < file.size; ) {
    onSent(at)
    const end = Math.min(file.size, at + pieceBytes)
    try {
      at = await put(`${at}-${end - 1}`, file.slice(at, end))
      failures = 0
    } catch (error) {
      failures += 1
      if (!isWorthRepeating(error) || failures === maxFailures) throw error
      await new Promise(resolve => setTimeout(resolve, 250 * 2 ** failures))
      // How much of the piece arrived is the server's to say.
      at = await put('*', new Blob()).catch(() => at)
    }
  }
  onSent(file.size)
}

const isWorthRepeating = (error: unknown): boolean =>
  isPassing(error) || (error instanceof ApiFailure && error.code === 'upload.gap')
