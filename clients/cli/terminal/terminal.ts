import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import type { Output, Process } from '../program/process.ts'
import { harmlessInColour } from './harmless.ts'

export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string

/**
 * Output of a command: data on stdout, everything else on stderr. Controls other than colours are removed from every
 * line but raw ones.
 */
export type Terminal = {
  data(line: string): void
  /** Data that passes unchanged, with all its control characters. */
  raw(line: string): void
  note(line: string): void
  /** A self-replacing line on stderr; null removes it. No-op if stderr is not a terminal. */
  status(line: string | null): void
  /** Both honour NO_COLOR and are plain if the stream is not a terminal. */
  paint: Paint
  paintNote: Paint
  /** Whether stdout is a terminal that can be redrawn. */
  isLive: boolean
  /** Null if stdout is not a terminal: nothing is cut there. */
  columns(): number | null
  rows(): number
}

type Streams = Pick<Process, 'stdout' | 'stderr' | 'env'>

export function processTerminal({ stdout, stderr, env }: Streams): Terminal {
  let shown: string | null = null
  const erase = () => (shown === null ? '' : '\r\x1b[2K')
  return {
    data: line => void stdout.write(`${harmlessInColour(line)}\n`),
    raw: line => void stdout.write(`${line}\n`),
    note: line => void stderr.write(`${erase()}${harmlessInColour(line)}\n${shown ?? ''}`),
    status(line) {
      if (!stderr.isTTY || env.TERM === 'dumb') return
      const text = line === null ? null : harmlessInColour(line)
      stderr.write(`${erase()}${text ?? ''}`)
      shown = text
    },
    paint: painterOf(stdout, env),
    paintNote: painterOf(stderr, env),
    isLive: stdout.isTTY === true && env.TERM !== 'dumb',
    columns: () => (stdout.isTTY ? stdout.columns || 80 : null),
    rows: () => stdout.rows || 24,
  }
}

/** Like `styleText` for a stream, but with the variables of this process instead of Node's own. */
const painterOf = ({ isTTY }: Output, env: Process['env']): Paint =>
  (isTTY || env.FORCE_COLOR !== undefined) && WriteStream.prototype.getColorDepth(env) > 2
    ? (format, text) => styleText(format, text, { validateStream: false })
    : (_, text) => text
