import { fstatSync, write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Waiting text, in bytes; further lines are dropped until there is room. */
const mostBytes = 4 * 1024 * 1024
/** Bytes per write, except for a single longer line. */
const atOnceBytes = 64 * 1024
/** How long to wait after a write failed, e.g. on a full disk, in milliseconds. */
const retryMs = 500

/**
 * Writes log lines to standard output, which is often a file on the disk of the data. Lines that cannot be written wait, and neither
 * end nor hold up the process: pino's own destination throws when the disk is full, and then waits at the exit until it has room.
 */
export function logOutput(fd: number): DestinationStream {
  const waiting: Buffer[] = []
  let bytes = 0
  /** Bytes of `waiting` that are being written. */
  let inFlight = 0
  let isClosed = false
  // The reader of a pipe may be slow, a file is not; written at once, no line is lost when the process ends.
  const send = fstatSync(fd).isFile() ? atOnce : write

  const written = (count: number) => {
    const rest = Buffer.concat(waiting.splice(0, lengthOf(waiting, count))).subarray(count)
    if (rest.length > 0) waiting.unshift(rest)
    bytes -= count
  }
  const pump = () => {
    if (inFlight > 0 || waiting.length === 0) return
    const chunk = Buffer.concat(waiting.slice(0, lengthOf(waiting, atOnceBytes)))
    inFlight = chunk.length
    send(fd, chunk, (error, count) => {
      inFlight = 0
      if (error === null) {
        written(count)
        pump()
      } else if (error.code === 'EPIPE') {
        isClosed = true
        written(bytes)
      } else setTimeout(pump, retryMs).unref()
    })
  }
  process.once('exit', () =>
    atOnce(fd, Buffer.concat(waiting).subarray(inFlight), () => {
      // Nobody is left to wait for room.
    }),
  )
  return {
    write(text) {
      const line = Buffer.from(text)
      if (isClosed || bytes + line.length > mostBytes) return
      waiting.push(line)
      bytes += line.length
      pump()
    },
  }
}

type Sent = (error: NodeJS.ErrnoException | null, count: number) => void

function atOnce(fd: number, chunk: Buffer, sent: Sent): void {
  let count = 0
  let failure: NodeJS.ErrnoException | null = null
  try {
    count = writeSync(fd, chunk)
  } catch (error) {
    failure = error as NodeJS.ErrnoException
  }
  sent(failure, count)
}

/** How many of the first parts hold this many bytes; at least one. */
function lengthOf(parts: readonly Buffer[], bytes: number): number {
  let sum = 0
  const end = parts.findIndex(({ length }) => {
    sum += length
    return sum >= bytes
  })
  return end === -1 ? parts.length : end + 1
}
