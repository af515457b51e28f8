import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { exitCodeOfSignal } from '../program/output.ts'
import { pause } from '../program/pause.ts'
import type { Process } from '../program/process.ts'
import type { OutputStream } from './output-queue.ts'

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
  /** The stream is not read further until the returned promise settles. */
  onOutput: (stream: OutputStream, bytes: Buffer) => Promise<void> | null
  /** Called once with what sends it a signal. */
  onStart?: (kill: (signal: NodeJS.Signals) => void) => void
}

const passedOn = ['SIGTERM', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

/** Ignored signals stay ignored in the command only if a shell sets that: Node starts programs with none ignored. */
const ignoringHangup = ['/bin/sh', '-c', 'trap "" HUP; exec "$@"', 'sh']

/** Runs the command to its end with our standard input, forwarding signals. */
export async function runChild(process: Process, options: ChildOptions): Promise<ChildEnd> {
  const { command, env: given, onOutput, onStart } = options
  const { FORGE_HANGUP_IGNORED: isUnderNohup, ...env } = given
  const [named = ''] = command
  // A shell would report a missing program in its own words, as the command's output.
  const isWrapped = isUnderNohup && isExecutable(named, env.PATH)
  const [program = '', ...args] = isWrapped ? [...ignoringHangup, ...command] : command
  const child = spawn(program, args, { env, stdio: ['inherit', 'pipe', 'pipe'] })
  const closed = new Promise<void>(resolve => child.once('close', resolve))
  const reading = [
    readFrom(child.stdout, bytes => onOutput('stdout', bytes)),
    readFrom(child.stderr, bytes => onOutput('stderr', bytes)),
  ]
  onStart?.(signal => void child.kill(signal))
  const leaving = new AbortController()
  const forward = (signal: NodeJS.Signals) => {
    if (!child.kill(signal)) leaving.abort()
  }
  // A terminal sends Ctrl-C to the command as well, so it is not forwarded.
  const interrupt = () => {
    if (hasExited(child)) leaving.abort()
    else if (!process.stdin.isTTY) child.kill('SIGINT')
  }
  const signals = isUnderNohup ? passedOn : ([...passedOn, 'SIGHUP'] as const)
  for (const signal of signals) process.on(signal, forward)
  process.on('SIGINT', interrupt)
  try {
    const end = await exitOf(child, program)
    if (end.fault === null) await restOfOutput(reading, closed, leaving.signal)
    return end
  } finally {
    for (const signal of signals) process.off(signal, forward)
    process.off('SIGINT', interrupt)
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

const isExecutable = (program: string, path = '/usr/bin:/bin'): boolean =>
  (program.includes('/') ? [''] : path.split(':')).some(place => {
    try {
      accessSync(join(place, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const hasExited = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null

const exitOf = (child: ChildProcess, program: string): Promise<ChildEnd> =>
  new Promise(resolve => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      const fault = isMissing ? `${program}: command not found` : `${program}: ${error.message}`
      resolve({ exitCode: isMissing ? 127 : 126, signal: null, fault })
    })
    child.once('exit', (code, signal) => {
      const exitCode = code ?? (signal ? exitCodeOfSignal(signal) : 1)
      resolve({ exitCode, signal, fault: null })
    })
  })

type Reading = { isHeld: () => boolean; chunks: () => number }

/** Reads a pipe no faster than its bytes are taken. */
function readFrom(pipe: Readable, take: (bytes: Buffer) => Promise<void> | null): Reading {
  let isHeld = false
  let chunks = 0
  pipe.on('data', async (bytes: Buffer) => {
    chunks += 1
    const room = take(bytes)
    if (!room) return
    isHeld = true
    pipe.pause()
    await room
    isHeld = false
    pipe.resume()
  })
  return { isHeld: () => isHeld, chunks: () => chunks }
}

/** The interval in milliseconds, the empty looks in a row that end the reading, and the most looks in total. */
const looks = { everyMs: 50, emptyAtMost: 6, atMost: 30 }

/**
 * What the command itself printed is in its pipes when it ends. Processes that it left in the background keep them open,
 * perhaps for days, so their end is not awaited. Looks are counted instead of time, because between two of them
 * this process has read what there was, however busy the machine is.
 */
async function restOfOutput(
  reading: readonly Reading[],
  closed: Promise<void>,
  leaving: AbortSignal,
): Promise<void> {
  const chunks = () => reading.reduce((sum, pipe) => sum + pipe.chunks(), 0)
  let isClosed = false
  void closed.then(() => {
    isClosed = true
  })
  for (let [look, empty, before] = [0, 0, -1]; look < looks.atMost && empty < looks.emptyAtMost; ) {
    await Promise.race([closed, pause(looks.everyMs, leaving)])
    if (isClosed || leaving.aborted) return
    if (reading.some(pipe => pipe.isHeld())) continue
    look += 1
    empty = chunks() === before ? empty + 1 : 0
    before = chunks()
  }
}
