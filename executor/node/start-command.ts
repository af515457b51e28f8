import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Exit } from '../../events/jobs.ts'
import type { Enclosure } from '../attempts/enclosure.ts'
import { confined } from './confine.ts'
import { startedToDieFirst } from './die-first.ts'
import { markVariable } from './processes.ts'
import { yieldSession } from './yield-processor.ts'

export type Program = {
  command: readonly string[]
  env: Record<string, string>
  cwd: string
  /** Descriptors of files: output does not pass through this process, so none is lost if it dies. */
  stdout: number
  stderr: number
}

type End = Pick<Exit, 'exit_code' | 'signal'>

/** `pid` leads the session of the command, as seen from here. */
export type Started = { pid: number; ended: Promise<End> }

/** A command that could not be started, with the code of the system's error if there is one. */
export class NotStarted extends Error {
  readonly code: string | null
  constructor(message: string, code: string | null) {
    super(message)
    this.name = 'NotStarted'
    this.code = code
  }
}

/**
 * Starts a trusted program without confinement, with `input` on its standard input. `said` is its output on
 * descriptor 3. The child exists when this returns, its promise resolves once its program is loaded.
 */
export async function startTrusted(
  program: Program,
  input: string,
): Promise<Started & { said: Promise<string> }> {
  const child = spawnAs(program.command, program.env, program, ['pipe', 'pipe'])
  feed(child, input)
  const said = text(child.stdio[3] as Readable)
  const ended = endOf(child)
  return { pid: await pidOf(child), ended, said }
}

/** Starts the command of a run. The promise resolves once its program is loaded. */
export async function startCommand(
  program: Program,
  enclosure: Enclosure | null,
): Promise<Started> {
  if (Object.entries(program.env).flat().concat(program.command).join('').includes('\0'))
    throw new NotStarted('arguments and variables must be without null bytes', null)
  if (enclosure) return startConfined(program, enclosure)
  const child = spawnAs(program.command, program.env, program, ['ignore'])
  const ended = endOf(child)
  return { pid: await pidOf(child), ended }
}

async function startConfined(program: Program, enclosure: Enclosure): Promise<Started> {
  const { program: first, args, order } = confined(enclosure, program)
  // The command's own variables are part of the order, so they affect only the command.
  const { PATH = '/usr/bin:/bin', [markVariable]: mark } = program.env
  // A trial has no mark: an empty one would be shared with every other trial of the machine.
  const env = { PATH, LANG: 'C.UTF-8', ...(mark && { [markVariable]: mark }) }
  // The second pipe is bubblewrap's, which closes it.
  const pipes = order.wait ? (['pipe', 'pipe', 'pipe'] as const) : (['pipe', 'pipe'] as const)
  const child = spawnAs([first, ...args], env, { ...program, cwd: '/' }, pipes)
  const [, , , reports, info] = child.stdio
  feed(child, JSON.stringify(order))
  const told = reportsOf(reports as Readable)
  const inside = order.wait ? text(info as Readable) : null
  const ended = endOf(child)
  const pid = await pidOf(child)
  await told.started
  if (inside === null) return { pid, ended }
  return {
    pid: Number(JSON.parse(await inside)['child-pid']),
    ended: ended.then(async end => (await told.end) ?? unmixed(end)),
  }
}

/** A program that ends before it has read everything is noticed by its end. */
function feed({ stdin }: ChildProcess, input: string): void {
  stdin?.on('error', () => {})
  stdin?.end(input)
}

type Report = {
  started?: true
  ready?: true
  error?: string | null
  message?: string
  exit_code?: number | null
  signal?: number | null
}

/** The reports of `confine.py`: that the command was started, and how it ended. */
function reportsOf(stream: Readable): { started: Promise<void>; end: Promise<End | null> } {
  const started = Promise.withResolvers<void>()
  started.promise.catch(() => {})
  let seen = ''
  let ready = false
  let end: End | null = null
  const hear = (line: string) => {
    const report = JSON.parse(line) as Report
    if (report.message !== undefined)
      started.reject(new NotStarted(report.message, report.error ?? null))
    if (report.started) started.resolve()
    if (report.ready) ready = true
    if (report.exit_code !== undefined)
      end = { exit_code: report.exit_code, signal: signalName(report.signal ?? null) }
  }
  stream.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (seen + piece).split('\n')
    seen = lines.pop() ?? ''
    for (const line of lines) hear(line)
  })
  const ended = once(stream, 'close').then(() => {
    if (ready) started.resolve()
    started.reject(new NotStarted('the isolation of the run could not be set up', null))
    return end
  })
  return { started: started.promise, end: ended }
}

/** Without a report its process was killed with the others; bubblewrap shows a signal as an exit code. */
function unmixed({ exit_code, signal }: End): End {
  const hidden = exit_code === null ? null : signalName(exit_code - 128)
  return hidden === null ? { exit_code, signal } : { exit_code: null, signal: hidden }
}

function signalName(number: number | null): NodeJS.Signals | null {
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  return (name as NodeJS.Signals | undefined) ?? null
}

/** The child leads its own session and group. */
function spawnAs(
  [program = '', ...args]: readonly string[],
  env: Record<string, string>,
  { cwd, stdout, stderr }: Pick<Program, 'cwd' | 'stdout' | 'stderr'>,
  [stdin, ...further]: readonly ['ignore' | 'pipe', ...'pipe'[]],
): ChildProcess {
  const stdio = [stdin, stdout, stderr, ...further]
  const child = startedToDieFirst(() => spawn(program, args, { cwd, env, detached: true, stdio }))
  if (child.pid !== undefined) yieldSession(child.pid)
  return child
}

async function pidOf(child: ChildProcess): Promise<number> {
  if (child.pid === undefined) await new Promise((_, reject) => child.once('error', reject))
  return child.pid ?? 0
}

const endOf = (child: ChildProcess): Promise<End> =>
  new Promise(resolve => child.once('exit', (exit_code, signal) => resolve({ exit_code, signal })))
