import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled } from './compiled.ts'
import { ownProcess } from './own-process.ts'
import type { Scope } from './postgres.ts'

export type Ended = { code: number | null; stdout: string; stderr: string }
export type RunOptions = {
  stdin?: string
  env?: Record<string, string>
  /** The working folder; by default this one. */
  cwd?: string
  /** Called with all of stdout so far; its actions on a separate process may depend on it. */
  onStdout?: (text: string, kill: (signal: NodeJS.Signals) => void) => void
  /** Runs it in a terminal of this size, whose whole output is in stdout; `keysAfter` returns the keys to press after an output. */
  terminal?: { columns: number; rows: number; keysAfter?: (shown: string) => string }
  /** Starts the launcher, for tests of it or of signals; otherwise the command runs inside this process. */
  inItsOwnProcess?: boolean
}
export type CommandLine = {
  /** Runs `forge` with these arguments to its end, without a terminal. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>
  /** Its home, where it keeps its contexts. */
  home: string
}

const launcher = join(import.meta.dirname, '../../clients/cli/forge.sh')

/** The command line with its own empty home, connected to that server. */
export async function commandLine(t: Scope, server: Record<string, string>): Promise<CommandLine> {
  const home = await mkdtemp(join(tmpdir(), 'forge-home-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const own = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    NODE_COMPILE_CACHE: compiled,
    // The build output of the Python client, in this checkout, which another test may copy meanwhile.
    PYTHONDONTWRITEBYTECODE: '1',
    ...server,
  }
  return {
    home,
    run(args, options = {}) {
      const { env, terminal, inItsOwnProcess = startsPrograms(args) } = options
      const given = {
        ...options,
        env: { ...own, ...(terminal && { TERM: 'xterm-256color' }), ...env },
      }
      return terminal || inItsOwnProcess ? start(args, given) : runHere(args, given)
    },
  }
}

/** These pass on the streams of their process, which must not be those of the test's. */
const startsPrograms = ([name = '', next]: readonly string[]): boolean =>
  ['run', 'sync', 'serve'].includes(name) ||
  (name === 'admin' && ['backup', 'republish', 'reset-password', 'restore'].includes(next ?? ''))

type Given = RunOptions & { env: Record<string, string> }

async function runHere(args: readonly string[], given: Given): Promise<Ended> {
  // Only tests that call commands load them.
  const { runProgram } = await import('../../clients/cli/program/run-program.ts')
  const { worldOf } = await import('../../clients/cli/program/session.ts')
  const { stdin = '', env, cwd = process.cwd(), onStdout = () => {} } = given
  const kill = () => {
    throw new Error('a signal needs a separate process')
  }
  const own = ownProcess({ stdin, env, cwd, onStdout: text => onStdout(text, kill) })
  const code = await runProgram(worldOf(own.process), args)
  return { code, stdout: own.stdout(), stderr: own.stderr() }
}

const start = (
  args: readonly string[],
  { stdin = '', env, cwd, onStdout, terminal }: Given,
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const [command, ...rest] = terminal ? inTerminal(terminal, args) : [launcher, ...args]
    const child = spawn(command ?? launcher, rest, { cwd, env })
    let [stdout, stderr] = ['', '']
    // It may have ended before it has read everything; `close` reports that.
    child.stdin.on('error', () => {})
    child.stdout.on('data', chunk => {
      stdout += chunk
      onStdout?.(stdout, signal => void child.kill(signal))
      if (terminal?.keysAfter) child.stdin.write(terminal.keysAfter(stdout))
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, stdout, stderr }))
    if (!terminal) child.stdin.end(stdin)
  })

const inTerminal = (
  { columns, rows }: { columns: number; rows: number },
  args: readonly string[],
) => [
  'python3',
  join(import.meta.dirname, 'in-terminal.py'),
  ...[columns, rows].map(String),
  launcher,
  ...args,
]
