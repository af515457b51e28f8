import { once } from 'node:events'
import { fstatSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import type { Output, Process } from './process.ts'

/** Whether what a command prints reaches its reader. */
export type Printing = {
  /** Settles when stdout cannot be written any more; a command ends then, except after `goOn`. */
  broken: Promise<void>
  /** For a command that continues without a reader. */
  goOn(): void
  /** Writes to stdout what nobody can read again; rejects if it may be lost, also to a reader that closed its end. */
  writeOrFail(text: string): Promise<void>
  /** Waits until the streams have passed on everything, or a signal. */
  end(): Promise<Printed>
}

/** `fault` also if nobody noticed before; not for a reader that closed its end, nor if `writeOrFail` has rejected with it. */
type Printed = { fault: Error | null; signal: NodeJS.Signals | null }

/** Watches both streams from now on. */
export function watchOutput(process: Pick<Process, 'stdout' | 'stderr' | 'once'>): Printing {
  const { stdout, stderr } = process
  let fault: NodeJS.ErrnoException | null = null
  let endsCommand = true
  let isReported = false
  const { promise: broken, resolve: breakOff } = Promise.withResolvers<void>()
  const blame = (error: NodeJS.ErrnoException) => {
    fault ??= error
  }
  stderr.on('error', blame)
  stdout.on('error', error => {
    blame(error)
    if (endsCommand) breakOff()
  })
  return {
    broken,
    goOn() {
      endsCommand = false
    },
    async writeOrFail(text) {
      // Otherwise the command ends before it can report the loss.
      endsCommand = false
      try {
        await new Promise<void>((resolve, reject) =>
          stdout.write(text, error => (error ? reject(error) : resolve())),
        )
      } catch (error) {
        isReported = true
        throw error
      }
      endsCommand = true
    },
    async end() {
      const signal = await Promise.race([
        Promise.all([stdout, stderr].map(stream => passedOn(stream).catch(blame))),
        anySignal(process),
      ])
      const isClosed = isReported || fault?.code === 'EPIPE'
      return { fault: isClosed ? null : fault, signal: Array.isArray(signal) ? null : signal }
    },
  }
}

/** Waits until a slow reader has caught up, so that output of any length takes little memory. */
export async function drained(stream: Output): Promise<void> {
  if (stream.writableNeedDrain) await once(stream, 'drain')
}

/** Writes until the stream breaks; the returned promise settles when a slow reader has caught up. */
export function whileRead(stream: Output): (bytes: Uint8Array) => Promise<void> | null {
  let isRead = true
  stream.on('error', () => {
    isRead = false
  })
  return bytes => (!isRead || stream.write(bytes) ? null : drainOrError(stream))
}

const drainOrError = (stream: Output): Promise<void> =>
  new Promise(resolve => {
    const done = () => {
      stream.off('drain', done)
      stream.off('error', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('error', done)
  })

/** The exit code of a process that a signal ended, by shell convention. */
export const exitCodeOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/** Node accepts any amount for a slow reader, and forgets it in `process.exit`. */
const passedOn = (stream: Output): Promise<void> =>
  new Promise((resolve, reject) => {
    // An error of the last write is an event of a later tick.
    if (stream.writableLength === 0) setImmediate(resolve)
    else stream.write('', error => (error ? reject(error) : resolve()))
  })

/** Commands leave listeners behind, which keep Ctrl-C from ending this process. */
const anySignal = (process: Pick<Process, 'once'>): Promise<NodeJS.Signals> =>
  new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve)
  })

/**
 * Node's stream to a redirected file takes a write for whole that was cut short, as the last one before a full disk or a
 * limit on file sizes is. This one writes on, and so meets the error.
 */
export function writeWholly(stream: Output, fd: number): void {
  if (!fstatSync(fd).isFile()) return
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let written = 0; written < chunk.length; )
        written += writeSync(fd, chunk, written, chunk.length - written)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}
