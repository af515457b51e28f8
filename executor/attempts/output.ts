import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Offsets, OutputPiece } from '../port.ts'
import type { RankPaths } from './attempt-directory.ts'
import { isErrno } from './durable-json.ts'
import { readReach } from './output-limit.ts'

type Files = Pick<RankPaths, 'stdout' | 'stderr' | 'reach'>

/**
 * Reads the files of each rank from these offsets, at most `maxBytes` in total. A pass starts with the rank that has been
 * read least, so that a verbose one does not keep the others from being read.
 */
export async function readOutput(
  ranks: readonly Files[],
  from: Offsets,
  maxBytes: number,
): Promise<OutputPiece[]> {
  const starts = ranks.map((_, rank) => from[rank] ?? { stdout: 0, stderr: 0 })
  const readOf = (rank: number) => (starts[rank]?.stdout ?? 0) + (starts[rank]?.stderr ?? 0)
  const leastFirst = ranks.map((files, rank) => ({ files, rank, start: starts[rank] }))
  leastFirst.sort((a, b) => readOf(a.rank) - readOf(b.rank))
  const found: OutputPiece[] = []
  let left = maxBytes
  for (const { files, rank, start = { stdout: 0, stderr: 0 } } of leastFirst) {
    if (left === 0) break
    const pieces = await readRank(files, start, left)
    for (const piece of pieces) left -= piece.bytes.length
    found.push(...pieces.map(piece => ({ rank, ...piece })))
  }
  return found
}

/** Reads both files, at most `maxBytes` in total and none that may be cut off; a busy stream leaves half to the other. */
async function readRank(
  files: Files,
  from: Offsets[number],
  maxBytes: number,
): Promise<Omit<OutputPiece, 'rank'>[]> {
  const half = Math.floor(maxBytes / 2)
  // Read before the files are: it only grows.
  const reach = await readReach(files.reach)
  const room = (stream: 'stdout' | 'stderr') =>
    Math.min(maxBytes, Math.max(0, (reach?.[stream] ?? Number.POSITIVE_INFINITY) - from[stream]))
  const stderr = await readPiece(files.stderr, from.stderr, room('stderr'))
  const stdout = await readPiece(files.stdout, from.stdout, room('stdout'))
  const stderrBytes = Math.min(stderr.length, Math.max(half, maxBytes - stdout.length))
  const pieces: Omit<OutputPiece, 'rank'>[] = [
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
