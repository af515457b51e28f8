import { type FileHandle, open } from 'node:fs/promises'
import { exitCode, Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import type { Api } from './client.ts'

/** The fields of `POST /api/uploads` that are used here. */
type Target = {
  upload_id: string
  url: string
  headers: Record<string, string>
  received_bytes: number
  exists: boolean
}
type Progress = { received_bytes: number }

/** One request sends this much: slow lines then lose little, and progress shows. */
const pieceBytes = 4 * 1024 * 1024
/** Failed requests in a row. */
const maxFailures = 6
/** How often a file is sent again because another command sent it at the same time. */
const maxDisturbances = 4

type Uploaded = { file: string; bytes: number; sha256: string }
type OnProgress = (sent: number, total: number) => void

/** Sends a packed folder as `upload` does. */
export const uploadArchive = (
  api: Api,
  archive: Uploaded,
  {
    purpose,
    onProgress,
  }: { purpose: 'package' | 'recipe' | 'environment'; onProgress: OnProgress },
): Promise<string> => {
  const named = { filename: `${purpose}.tar.gz`, content_type: 'application/gzip' }
  return upload(api, archive, { purpose, ...named, onProgress })
}

/**
 * Sends a file and registers it; returns its upload. Never repeats bytes that the server already has: the whole file, or the
 * beginning of one that was interrupted, even in an earlier call.
 */
export async function upload(
  api: Api,
  { file, bytes, sha256 }: Uploaded,
  {
    onProgress,
    ...named
  }: { purpose: string; filename: string; content_type: string; onProgress: OnProgress },
): Promise<string> {
  const announced = { ...named, size_bytes: bytes, sha256 }
  const handle = await open(file, 'r')
  try {
    for (let failures = 0; ; failures += 1) {
      const target = await api.post<Target>('/api/uploads', announced, { creates: true })
      if (target.exists) return target.upload_id
      try {
        await sendRest(api, target, { handle, bytes, onProgress })
        await api.post(`/api/uploads/${target.upload_id}/complete`, undefined)
        return target.upload_id
      } catch (error) {
        if (!isDisturbed(error) || failures === maxDisturbances) throw error
        await pause(250 * 2 ** failures)
      }
    }
  } finally {
    await handle.close()
  }
}

/** Another command has registered the same file meanwhile, or is sending it again from its beginning. */
const disturbed = ['upload.completed', 'upload.incomplete', 'upload.sha256']
const isDisturbed = (error: unknown): boolean =>
  error instanceof Failure && disturbed.includes(String(error.fields.code))

type Sending = {
  handle: FileHandle
  bytes: number
  onProgress: OnProgress
}

async function sendRest(
  api: Api,
  { url, headers, received_bytes }: Target,
  { handle, bytes, onProgress }: Sending,
): Promise<void> {
  const put = (range: string, piece: Buffer) =>
    api.send<Progress>(url, { ...headers, 'content-range': `bytes ${range}/${bytes}` }, piece)
  let at = received_bytes
  let failures = 0
  while (at < bytes) {
    onProgress(at, bytes)
    const piece = await pieceAt(handle, at, Math.min(pieceBytes, bytes - at))
    try {
      at = (await put(`${at}-${at + piece.length - 1}`, piece)).received_bytes
      failures = 0
    } catch (error) {
      failures += 1
      if (!isWorthRepeating(error) || failures === maxFailures) throw error
      await pause(250 * 2 ** failures)
      // How much of the piece arrived is the server's to say.
      at = await put('*', Buffer.alloc(0)).then(
        progress => progress.received_bytes,
        () => at,
      )
    }
  }
  onProgress(bytes, bytes)
}

const isWorthRepeating = (error: unknown): boolean =>
  error instanceof Failure &&
  (error.exitCode === exitCode.unavailable || error.fields.code === 'upload.gap')

async function pieceAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const piece = Buffer.alloc(length)
  const { bytesRead } = await handle.read(piece, 0, length, at)
  return piece.subarray(0, bytesRead)
}
