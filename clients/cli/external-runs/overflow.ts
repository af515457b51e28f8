import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A queue on disk for what does not fit into memory. Its files have no names, so that their space is freed with the end of
 * this process, however it ends.
 */
export type Overflow = {
  /** Bytes on disk. */
  size(): number
  isEmpty(): boolean
  /** `weight` is what `dropOldest` counts. Throws if the disk does not accept it. */
  push(text: string, weight: number): void
  shift(): string | null
  /** Frees the oldest part of the queue; returns the weight lost with it. */
  dropOldest(): number
  close(): void
}

type Entry = { at: number; bytes: number; weight: number }
type Segment = { fd: number; size: number; waiting: Entry[] }

export function openOverflow(folder: string, segmentBytes = 4 * 1024 * 1024): Overflow {
  const segments: Segment[] = []
  const forgetFirst = () => {
    const first = segments.shift()
    if (first) closeSync(first.fd)
  }
  return {
    size: () => segments.reduce((sum, { size }) => sum + size, 0),
    isEmpty: () => segments.length === 0,
    push(text, weight) {
      const bytes = Buffer.from(text)
      const last = segments.at(-1)
      const isRoomy = last !== undefined && last.size < segmentBytes
      const segment = isRoomy ? last : { fd: openNameless(folder), size: 0, waiting: [] }
      try {
        writeAt(segment.fd, bytes, segment.size)
      } catch (error) {
        if (!isRoomy) closeSync(segment.fd)
        throw error
      }
      if (!isRoomy) segments.push(segment)
      segment.waiting.push({ at: segment.size, bytes: bytes.length, weight })
      segment.size += bytes.length
    },
    shift() {
      const [first] = segments
      const entry = first?.waiting.shift()
      if (!first || !entry) return null
      const bytes = Buffer.alloc(entry.bytes)
      readSync(first.fd, bytes, 0, entry.bytes, entry.at)
      if (first.waiting.length === 0) forgetFirst()
      return bytes.toString()
    },
    dropOldest() {
      const lost = segments[0]?.waiting.reduce((sum, { weight }) => sum + weight, 0) ?? 0
      forgetFirst()
      return lost
    },
    close() {
      while (segments.length > 0) forgetFirst()
    },
  }
}

function openNameless(folder: string): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `.output-${process.pid}-${randomBytes(6).toString('hex')}`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return fd
}

/** A write may be short where the disk is nearly full; the next one then fails. */
function writeAt(fd: number, bytes: Buffer, at: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(fd, bytes, written, bytes.length - written, at + written)
}
