import { appendFileSync, fchownSync, openSync, utimesSync, writeSync } from 'node:fs'
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
import { createDurably, isErrno, readJson, writeDurably } from './durable-json.ts'
import { killRun, type Quarry } from './kill-run.ts'
import { oomWatch } from './oom-watch.ts'
import { limitOutput } from './output-limit.ts'
import { cannotLaunch, type Prepared } from './prepared.ts'
import { bootId, identify } from './processes.ts'
import { type Program, type Started, startCommand, startTrusted } from './start-command.ts'
import { followStops } from './stop-requests.ts'

/**
 * The supervisor of one attempt: a small process in its own session, started by the server and outliving it. It
 * starts the command, carries out stop requests, and records how the command ended before it exits.
 * `node supervisor.ts DIRECTORY`, with the environment as JSON on standard input; prints `claimed` once it owns
 * the attempt.
 */

/** Touches the claim file; should this process vanish, the server takes its age as the last sign of life. */
const heartbeatMs = 10_000

/** When the first program of the attempt started. */
let startedAt: string | null = null

let output: { stdout: number; stderr: number } | null = null

const paths = attemptPaths(process.argv[2] ?? '')

// A service manager that kills the server's whole group must not kill the only witness of the run's end.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
await supervise()

async function supervise(): Promise<void> {
  const launch = await readJson<LaunchRecord>(paths.launch)
  if (!launch) throw new Error(`no attempt in ${paths.directory}`)
  // Read completely before the claim: if the server is killed midway, the attempt can be submitted again.
  const handover = JSON.parse(await text(process.stdin)) as Handover
  const { turn } = handover
  const name = `forge-${launch.run_id}-${launch.attempt}-${process.pid}`
  const { cgroup, reason } = createCgroup(name)
  if (!(await claim(turn, cgroup, reason))) return removeCgroup(cgroup)
  tellServer()
  // Later supervisors then load compiled code instead of the type stripper: 45 MB instead of 63.
  flushCompileCache()
  const heartbeat = setInterval(() => touch(paths.claim(turn)), heartbeatMs)
  const endLimit = await limitOutput(paths, {
    failed: error => complain(`output not cut: ${error}`),
  })
  const exit = await run(launch, handover, {
    mark: launch.mark,
    cgroup,
    session: null,
    owner: ownerOf(handover),
  })
  removeCgroup(cgroup)
  await endLimit()
  await record(exit)
  clearInterval(heartbeat)
}

function ownerOf({ enclosure }: Handover): Quarry['owner'] {
  const id = enclosure?.identity?.id
  return enclosure && id !== undefined ? { id, python: enclosure.python } : null
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

async function run(launch: LaunchRecord, handover: Handover, quarry: Quarry): Promise<ExitRecord> {
  if (await readJson(paths.stop)) return neverStarted('stopped before it was started')
  const oom = oomWatch(quarry.cgroup)
  try {
    const { end, killed } = await runSteps(launch, handover, quarry)
    const left = await killRun(quarry)
    if (left > 0) complain(`${left} processes of the run could not be killed`)
    return {
      started_at: startedAt,
      ended_at: new Date().toISOString(),
      ...end,
      oom_killed: oom.killed({ ...end, by_us: killed }),
      launch_error: null,
    }
  } catch (error) {
    oom.end()
    await killRun(quarry)
    return neverStarted(reasonOf(error, launch.command[0] ?? ''))
  }
}

type Step = { end: Pick<ExitRecord, 'exit_code' | 'signal'>; killed: boolean }

/** The preparation, if the launch has one, and then the command. Throws if the first of them cannot be started. */
async function runSteps(
  { command, preparation }: LaunchRecord,
  { env, preparation_env, preparation_input, enclosure }: Handover,
  quarry: Quarry,
): Promise<Step> {
  if (preparation === null)
    return untilEnded(quarry, files => startCommand({ ...files, command, env }, enclosure))
  let said = Promise.resolve('')
  const prepared = await untilEnded(quarry, async files => {
    // Not in the working folder, which is the run's: an earlier attempt may have planted programs and links there.
    const trusted = { ...files, cwd: paths.directory, command: preparation, env: preparation_env }
    const started = await startTrusted(trusted, preparation_input)
    said = started.said
    return started
  })
  if (prepared.end.exit_code !== 0) return prepared
  if (await readJson(paths.stop))
    return { end: { exit_code: null, signal: 'SIGTERM' }, killed: false }
  const wanted = JSON.parse(await said) as Prepared
  const around = enclosure && {
    ...enclosure,
    readable: [...enclosure.readable, ...wanted.readable],
  }
  const whole = { command: wanted.command, env: { ...env, ...wanted.env } }
  try {
    return await untilEnded(quarry, files => startCommand({ ...files, ...whole }, around))
  } catch (error) {
    tell(`${reasonOf(error, wanted.command[0] ?? '')}`)
    return { end: { exit_code: cannotLaunch, signal: null }, killed: false }
  }
}

/** Starts one program of the attempt, carries out stops meanwhile, and waits for its end. */
async function untilEnded(
  quarry: Quarry,
  start: (files: Pick<Program, 'cwd' | 'stdout' | 'stderr'>) => Promise<Started>,
): Promise<Step> {
  const started = await inCgroup(quarry, start)
  quarry.session = started.pid
  // Not awaited: a full disk must not delay the handling of stops.
  const recorded = recordStart(started.pid)
  const stops = followStops(paths, quarry)
  const end = await started.ended
  stops.end()
  await recorded
  return { end, killed: stops.killed() }
}

/** The output goes straight to the files; children are made in the control group. */
async function inCgroup(
  { cgroup, owner }: Quarry,
  start: (files: Pick<Program, 'cwd' | 'stdout' | 'stderr'>) => Promise<Started>,
): Promise<Started> {
  const { stdout, stderr } = openOutput()
  // So that the command can open its own output again, as /dev/stdout.
  if (owner) for (const file of [stdout, stderr]) fchownSync(file, owner.id, owner.id)
  const inside = cgroup !== null && tryCgroup(() => enterCgroup(cgroup))
  let starting: Promise<Started>
  try {
    // Not awaited in here: this process must not stay in the group that it may have to kill.
    starting = start({ cwd: paths.work, stdout, stderr })
  } finally {
    if (inside) tryCgroup(() => leaveCgroup(cgroup))
  }
  return starting
}

/**
 * Kept open until this process ends, each a second time for this process alone: the run can then take no lease on its
 * output (fcntl(2)), which would keep us from cutting it.
 */
function openOutput(): { stdout: number; stderr: number } {
  if (output !== null) return output
  const [stdout, stderr] = [paths.stdout, paths.stderr].map(file => {
    openSync(file, 'a', 0o600)
    return openSync(file, 'a', 0o600)
  }) as [number, number]
  output = { stdout, stderr }
  return output
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

async function recordStart(pid: number): Promise<void> {
  startedAt ??= new Date().toISOString()
  // Even if already ended, the program is not reaped before the event loop turns and can be identified.
  const leader = identify(pid) ?? { pid, start_ticks: '', boot_id: bootId() }
  const started: StartedRecord = { leader, started_at: startedAt }
  await patiently(() => writeDurably(paths.started, started))
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

/** A line of ours in the run's own log. */
function tell(message: string): void {
  try {
    appendFileSync(openOutput().stderr, `[forge] ${message}\n`)
  } catch (error) {
    complain(`${message}: ${error}`)
  }
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
