import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { OutputPiece } from '../port.ts'
import { isErrno } from './durable-json.ts'
import { readReach } from './output-limit.ts'

type Files = { stdout: string; stderr: string; reach: string }

/**
 * Reads both files from these offsets, at most `maxBytes` in total and none that may be cut off; a busy stream leaves
 * half to the other.
 */
export async function readOutput(
  files: Files,
  from: { stdout: number; stderr: number },
  maxBytes: number,
): Promise<OutputPiece[]> {
  const half = Math.floor(maxBytes / 2)
  // Read before the files are: it only grows.
  const reach = await readReach(files.reach)
  const room = (stream: 'stdout' | 'stderr') =>
    Math.min(maxBytes, Math.max(0, (reach?.[stream] ?? Number.POSITIVE_INFINITY) - from[stream]))
  const stderr = await readPiece(files.stderr, from.stderr, room('stderr'))
  const stdout = await readPiece(files.stdout, from.stdout, room('stdout'))
  const stderrBytes = Math.min(stderr.length, Math.max(half, maxBytes - stdout.length))
  const pieces: OutputPiece[] = [
    { stream: 'stdout', offset: from.stdout, bytes: stdout.subarray(0, maxBytes - stderrBytes) },
    { stream: 'stderr', offset: from.stderr, bytes: stderr.subarray(0, stderrBytes) },
  ]
  return pieces.filter(piece => piece.bytes.length > 0)
}

/** Empty if the file does not exist yet or ends before `offset`. */
async function readPiece(file: string, offset: number, maxBytes: number): Promise<Buffer> {
  try {
    // The owner of the file may hold a lease on it (fcntl(2)): then not now, instead of waiting for 45 s.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const { size } = await handle.stat()
      const length = Math.min(Math.max(size - offset, 0), maxBytes)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EAGAIN')) return Buffer.alloc(0)
    throw error
  }
}
