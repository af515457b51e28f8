import { isAbsolute } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'

/** The part of a process that commands use; tests supply their own. */
export type Process = {
  env: Record<string, string | undefined>
  stdin: Input
  stdout: Output
  stderr: Output
  cwd(): string
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  once(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
}

/** Both have more if they are a terminal. */
type Input = Readable & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>
export type Output = Writable & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>>

/** A path as a person gives it, relative to the folder of the process. */
export const pathIn = (process: Pick<Process, 'cwd'>, path: string): string =>
  path === '' || isAbsolute(path) ? path : `${process.cwd()}/${path}`
