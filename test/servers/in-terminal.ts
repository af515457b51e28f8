import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { until } from './until.ts'

export type InTerminal = {
  /** Everything shown so far. */
  shown(): string
  /** `'\x03'` is Ctrl-C, which the terminal turns into SIGINT for all of its foreground process group. */
  type(keys: string): void
  /** Resolves with the exit code. */
  ended: Promise<number | null>
}

type Started = { cwd: string; env: Record<string, string> }

/** Runs a command in a new terminal, as a person would. */
export function inTerminal(
  t: ExecutionContext,
  command: readonly string[],
  { cwd, env }: Started,
): InTerminal {
  const script = join(import.meta.dirname, 'in-terminal.py')
  const child = spawn('python3', [script, '80', '24', ...command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // It may have ended before it has read everything; `ended` reports that.
  child.stdin.on('error', () => {})
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    shown += text
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { shown: () => shown, type: keys => void child.stdin.write(keys), ended }
}

/** Waits until the terminal shows it, and returns the match. */
export const untilShown = (terminal: InTerminal, what: RegExp, withinMs = 90_000) =>
  until(`the terminal shows ${what}`, withinMs, () => what.exec(terminal.shown()))
