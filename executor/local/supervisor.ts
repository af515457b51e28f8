import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, utimesSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import {
  attemptPaths,
  type ClaimRecord,
  type ExitRecord,
  type Handover,
  type LaunchRecord,
  type StartedRecord,
} from './attempt-directory.ts'
import { type Cgroup, createCgroup, enterCgroup, leaveCgroup, removeCgroup } from './cgroup.ts'
import { createDurably, isErrno, readJson } from './durable-json.ts'
import { killRun, type Quarry } from './kill-run.ts'
import { oomWatch } from './oom-watch.ts'
import { bootId, identify } from './processes.ts'
import { followStops } from './stop-requests.ts'

/**
 * The supervisor of one attempt: a small process in its own session, started by the server and outliving it. It
 * starts the command, carries out stop requests, and records how the command ended before it exits.
 * `node supervisor.ts DIRECTORY`, with the environment as JSON on standard input; prints `claimed` once it owns
 * the attempt.
 */

/** Touches the claim file; should this process vanish, the server takes its age as the last sign of life. */
const heartbeatMs = 10_000

const paths = attemptPaths(process.argv[2] ?? '')

// A service manager that kills the server's whole group must not kill the only witness of the run's end.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
await supervise()

async function supervise(): Promise<void> {
  const launch = await readJson<LaunchRecord>(paths.launch)
  if (!launch) throw new Error(`no attempt in ${paths.directory}`)
  // Read completely before the claim: if the server is killed midway, the attempt can be submitted again.
  const { env, turn } = JSON.parse(await text(process.stdin)) as Handover
  const name = `forge-${launch.run_id}-${launch.attempt}-${process.pid}`
  const { cgroup, reason } = createCgroup(name)
  if (!(await claim(turn, cgroup, reason))) return removeCgroup(cgroup)
  tellServer()
  // Later supervisors then load compiled code instead of the type stripper: 45 MB instead of 63.
  flushCompileCache()
  const heartbeat = setInterval(() => touch(paths.claim(turn)), heartbeatMs)
  const exit = await run(launch, env, { mark: launch.mark, cgroup, session: null })
  removeCgroup(cgroup)
  await record(exit)
  clearInterval(heartbeat)
}

function claim(turn: number, cgroup: Cgroup | null, reason: string | null): Promise<boolean> {
  const claimed: ClaimRecord = {
    supervisor: identify(process.pid),
    given_up: null,
    cgroup,
    no_cgroup_reason: reason,
  }
  return createDurably(paths.claim(turn), claimed)
}

async function run(
  launch: LaunchRecord,
  env: Record<string, string>,
  quarry: Quarry,
): Promise<ExitRecord> {
  if (await readJson(paths.stop)) return neverStarted('stopped before it was started')
  let child: ChildProcess
  try {
    child = await start(launch.command, env, quarry)
  } catch (error) {
    return neverStarted(reasonOf(error, launch.command[0] ?? ''))
  }
  const ended = new Promise<[number | null, NodeJS.Signals | null]>(resolve =>
    child.once('exit', (code, signal) => resolve([code, signal])),
  )
  const oom = oomWatch(quarry.cgroup)
  const started_at = new Date().toISOString()
  quarry.session = child.pid ?? null
  // Not awaited: a full disk must not delay the handling of stops.
  const recorded = recordStart(child, started_at)
  const stops = followStops(paths, quarry)
  const [exit_code, signal] = await ended
  stops.end()
  const left = await killRun(quarry)
  await recorded
  if (left > 0) complain(`${left} processes of the run could not be killed`)
  return {
    started_at,
    ended_at: new Date().toISOString(),
    exit_code,
    signal,
    oom_killed: oom.killed({ exit_code, signal, by_us: stops.killed() }),
    launch_error: null,
  }
}

/** Resolves once the command's program is loaded. The command leads its own session and group. */
async function start(
  command: string[],
  env: Record<string, string>,
  { cgroup }: Quarry,
): Promise<ChildProcess> {
  const [program = '', ...args] = command
  const stdout = openSync(paths.stdout, 'a', 0o600)
  const stderr = openSync(paths.stderr, 'a', 0o600)
  const inside = cgroup !== null && tryCgroup(() => enterCgroup(cgroup))
  try {
    // Directly into the files: no byte passes through this process, so none is lost if it dies.
    const stdio = ['ignore' as const, stdout, stderr]
    const child = spawn(program, args, { cwd: paths.work, env, detached: true, stdio })
    if (child.pid === undefined) await new Promise((_, reject) => child.once('error', reject))
    return child
  } finally {
    if (inside) tryCgroup(() => leaveCgroup(cgroup))
    closeSync(stdout)
    closeSync(stderr)
  }
}

function tryCgroup(move: () => void): boolean {
  try {
    move()
    return true
  } catch (error) {
    complain(`control group not used: ${error instanceof Error ? error.message : error}`)
    return false
  }
}

async function recordStart(child: ChildProcess, started_at: string): Promise<void> {
  // Even if already ended, the command is not reaped before the event loop turns and can be identified.
  const leader = identify(child.pid ?? 0) ?? {
    pid: child.pid ?? 0,
    start_ticks: '',
    boot_id: bootId(),
  }
  const started: StartedRecord = { leader, started_at }
  await patiently(() => createDurably(paths.started, started))
}

async function record(exit: ExitRecord): Promise<void> {
  await patiently(() => createDurably(paths.exit, exit))
}

/** Retries until there is room: a full disk must not lose the record. */
async function patiently(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      // The directory was removed: nobody needs the record.
      if (isErrno(error, 'ENOENT')) return
      complain(String(error))
      await delay(1000)
    }
  }
}

function neverStarted(launch_error: string): ExitRecord {
  return {
    started_at: null,
    ended_at: new Date().toISOString(),
    exit_code: null,
    signal: null,
    oom_killed: false,
    launch_error,
  }
}

function reasonOf(error: unknown, program: string): string {
  if (isErrno(error, 'ENOENT')) return `program not found: ${program}`
  if (isErrno(error, 'EACCES')) return `no permission to run ${program}`
  if (isErrno(error, 'E2BIG')) return 'arguments and environment are too large'
  return error instanceof Error ? error.message : String(error)
}

function touch(file: string): void {
  const now = new Date()
  try {
    utimesSync(file, now, now)
  } catch {
    // Only a hint; the next heartbeat may succeed.
  }
}

function tellServer(): void {
  try {
    writeSync(1, 'claimed\n')
  } catch {
    // The server has ended; the next one will find the claim.
  }
}

function complain(message: string): void {
  try {
    writeSync(2, `${new Date().toISOString()} ${message}\n`)
  } catch {
    // A full disk; there is nowhere else to report it.
  }
}
