import { styleText } from 'node:util'

export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string

/** Where a command writes: data on stdout, everything else on stderr. */
export type Terminal = {
  data(line: string): void
  note(line: string): void
  /** One line on stderr that replaces itself, null takes it away; nothing where stderr is no terminal. */
  status(line: string | null): void
  /** Both honour NO_COLOR and are plain where the stream is no terminal. */
  paint: Paint
  paintNote: Paint
  /** Stdout is a terminal that can be redrawn. */
  isLive: boolean
  /** Null where stdout is no terminal: nothing is to be cut there. */
  columns(): number | null
  rows(): number
}

export function processTerminal(env: Record<string, string | undefined>): Terminal {
  const { stdout, stderr } = process
  let shown: string | null = null
  const erase = () => (shown === null ? '' : '\r\x1b[2K')
  return {
    data: line => void stdout.write(`${line}\n`),
    note: line => void stderr.write(`${erase()}${line}\n${shown ?? ''}`),
    status(line) {
      if (!stderr.isTTY || env.TERM === 'dumb') return
      stderr.write(`${erase()}${line ?? ''}`)
      shown = line
    },
    paint: (format, text) => styleText(format, text, { stream: stdout }),
    paintNote: (format, text) => styleText(format, text, { stream: stderr }),
    isLive: stdout.isTTY === true && env.TERM !== 'dumb',
    columns: () => (stdout.isTTY ? stdout.columns || 80 : null),
    rows: () => stdout.rows || 24,
  }
}
