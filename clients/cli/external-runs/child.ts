import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Process } from '../program/process.ts'
import type { OutputStream } from './log-shipper.ts'

export type ChildEnd = {
  /** Shell convention: 128 + n for signal n, 127 for an unknown command. */
  exitCode: number
  signal: NodeJS.Signals | null
  /** Why it could not be started, or null. */
  fault: string | null
}

type ChildOptions = {
  command: readonly string[]
  env: Record<string, string | undefined>
  onOutput: (stream: OutputStream, bytes: Buffer) => void
  /** Called once with what sends it a signal. */
  onStart?: (kill: (signal: NodeJS.Signals) => void) => void
}

const passedOn = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

/** Runs the command to its end with our standard input, forwarding signals. */
export function runChild(
  process: Process,
  { command, env, onOutput, onStart }: ChildOptions,
): Promise<ChildEnd> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { env, stdio: ['inherit', 'pipe', 'pipe'] })
  child.stdout.on('data', bytes => onOutput('stdout', bytes))
  child.stderr.on('data', bytes => onOutput('stderr', bytes))
  onStart?.(signal => void child.kill(signal))
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  // A terminal sends Ctrl-C to the command as well, so it is not forwarded.
  const interrupt = () => {
    if (!process.stdin.isTTY) child.kill('SIGINT')
  }
  for (const signal of passedOn) process.on(signal, forward)
  process.on('SIGINT', interrupt)
  const release = () => {
    for (const signal of passedOn) process.off(signal, forward)
    process.off('SIGINT', interrupt)
  }
  return new Promise(resolve => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      release()
      const isMissing = error.code === 'ENOENT'
      const fault = isMissing ? `${program}: command not found` : `${program}: ${error.message}`
      resolve({ exitCode: isMissing ? 127 : 126, signal: null, fault })
    })
    // Not 'exit', which may fire before the last output.
    child.once('close', (code, signal) => {
      release()
      resolve({
        exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0),
        signal,
        fault: null,
      })
    })
  })
}
