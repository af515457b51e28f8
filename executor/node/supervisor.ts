import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  fchownSync,
  openSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { flushCompileCache } from 'node:module'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../platform/free-port.ts'
import type { Cgroup } from '../attempts/attempt-directory.ts'
import {
  attemptPaths,
  type ClaimRecord,
  type DiskLimit,
  type ExitRecord,
  type Handover,
  type LaunchRecord,
  type RankHandover,
  type StartedRecord,
} from '../attempts/attempt-directory.ts'
import { createDurably, isErrno, readJson, writeDurably } from '../attempts/durable-json.ts'
import { limitOutput } from '../attempts/output-limit.ts'
import { bootId, type Identity, identify } from '../attempts/process-identity.ts'
import { cannotLaunch, type Prepared } from '../preparation/prepared.ts'
import { createCgroup, enterCgroup, leaveCgroup, removeCgroup } from './cgroup.ts'
import { type DiskWatch, watchDisk } from './disk-limit.ts'
import { diskUse, volumesUse } from './disk-use.ts'
import { endOfRanks, type Step } from './joint-end.ts'
import { killRun, type Quarry } from './kill-run.ts'
import { watchMeetingPort } from './meeting-port.ts'
import { oomWatch } from './oom-watch.ts'
import { processesOfRun } from './processes.ts'
import { type Program, type Started, startCommand, startTrusted } from './start-command.ts'
import { followStops } from './stop-requests.ts'
import { yieldProcessor } from './yield-processor.ts'

/**
 * The supervisor of one attempt: a small process in its own session, started by the server and outliving it. It
 * starts the command, carries out stop requests, and records how the command ended before it exits.
 * `node supervisor.ts DIRECTORY`, with the environment as JSON on standard input; prints `claimed` once it owns
 * the attempt.
 */

/** Touches the claim file; should this process vanish, the server takes its age as the last sign of life. */
const heartbeatMs = 10_000
/** A directory that is missing for this long does not come back. */
const removedAfterMs = 60_000

const spareBytes = 64 * 1024
const failedToLaunch: Step = { end: { exit_code: cannotLaunch, signal: null }, killed: false }

/** When the first program of the attempt started. */
let startedAt: string | null = null

type Files = Pick<Program, 'cwd' | 'stdout' | 'stderr'>
/** By rank. */
const output = new Map<number, { stdout: number; stderr: number }>()

const paths = attemptPaths(process.argv[2] ?? '')

// A service manager that kills the server's whole group must not kill the only witness of the run's end.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
yieldProcessor()
await supervise()

async function supervise(): Promise<void> {
  const launch = await readJson<LaunchRecord>(paths.launch)
  if (!launch) throw new Error(`no attempt in ${paths.directory}`)
  // Read completely before the claim: if the server is killed midway, the attempt can be submitted again.
  const handover = JSON.parse(await text(process.stdin)) as Handover
  const { turn, disk = { limit_bytes: null } } = handover
  const name = `forge-${launch.run_id}-${launch.attempt}-${process.pid}`
  const { cgroup, reason } = createCgroup(name, handover.ranks[0]?.enclosure?.limits)
  if (!(await claim(turn, cgroup, reason))) return removeCgroup(cgroup)
  tellServer()
  // Later supervisors then load compiled code instead of the type stripper: 45 MB instead of 63.
  flushCompileCache()
  const heartbeat = setInterval(() => touch(paths.claim(turn)), heartbeatMs)
  const failed = (error: unknown) => complain(`output not cut: ${error}`)
  const limits = await Promise.all(
    handover.ranks.map((_, rank) => patiently(() => limitOutput(paths.rank(rank), { failed }))),
  )
  keepSpare()
  const quarry = { mark: launch.mark, cgroup, sessions: [], owner: ownerOf(handover) }
  const diskWatch = watchDiskOf(launch, quarry, disk)
  const exit = await run(launch, handover, { quarry, diskWatch })
  await diskWatch.stop()
  removeCgroup(cgroup)
  await Promise.all(limits.map(end => end?.()))
  await record(exit)
  clearInterval(heartbeat)
}

/** One user for all ranks. */
function ownerOf({ ranks }: Handover): Quarry['owner'] {
  const enclosure = ranks[0]?.enclosure
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

/** What each rank may write to is the attempt's working folder and its own temporary files. */
function watchDiskOf(
  { mark, nodes = 1 }: LaunchRecord,
  quarry: Quarry,
  limit: DiskLimit,
): DiskWatch {
  const tmps = Array.from({ length: nodes }, (_, rank) => paths.rank(rank).tmp)
  return watchDisk({
    ...limit,
    folder: paths.directory,
    async measure() {
      const processes = processesOfRun(mark, quarry.sessions, quarry.owner?.id ?? null)
      const pids = processes.map(({ pid }) => pid)
      const used = await diskUse([paths.work, ...tmps], pids)
      return { used, volumes: await volumesUse(limit.volumes ?? [], paths.directory) }
    },
    async end(why) {
      tell(`${why}: it is ended`)
      await killRun(quarry)
    },
    failed: error => complain(`disk space not measured: ${error}`),
  })
}

type Watched = { quarry: Quarry; diskWatch: DiskWatch }

async function run(
  launch: LaunchRecord,
  handover: Handover,
  { quarry, diskWatch }: Watched,
): Promise<ExitRecord> {
  if (await readJson(paths.stop)) return neverStarted('stopped before it was started')
  const oom = oomWatch(quarry.cgroup)
  try {
    const { end, killed } = await runSteps(launch, handover, quarry)
    const left = await killRun(quarry)
    if (left > 0) complain(`${left} processes of the run could not be killed`)
    const diskLimit = diskWatch.exceeded()
    return {
      started_at: startedAt,
      ended_at: new Date().toISOString(),
      ...end,
      oom_killed: oom.killed({ ...end, by_us: killed || diskLimit !== null }),
      ...(diskLimit !== null && end.exit_code !== 0 && { disk_limit: diskLimit }),
      launch_error: null,
    }
  } catch (error) {
    oom.end()
    await killRun(quarry)
    return neverStarted(reasonOf(error, launch.command[0] ?? ''))
  }
}

/** Runs the preparation, if any, and then the command. Throws if the first program cannot be started. */
async function runSteps(
  { command, preparation }: LaunchRecord,
  { ranks, preparation_env, preparation_input }: Handover,
  quarry: Quarry,
): Promise<Step> {
  if (preparation === null)
    return untilRanksEnded(quarry, ranks, { command, env: {}, readable: [], mounts: [] })
  let said = Promise.resolve('')
  const prepare = async (files: Files) => {
    // Not in the working folder, which is the run's: an earlier attempt may have planted programs and links there.
    const trusted = { ...files, cwd: paths.directory, command: preparation, env: preparation_env }
    const started = await startTrusted(trusted, preparation_input)
    said = started.said
    return started
  }
  const prepared = await untilEnded(quarry, [prepare])
  if (prepared.end.exit_code !== 0) return prepared
  if (await readJson(paths.stop))
    return { end: { exit_code: null, signal: 'SIGTERM' }, killed: false }
  const wanted = JSON.parse(await said) as Prepared
  try {
    return await untilRanksEnded(quarry, ranks, wanted)
  } catch (error) {
    tell(`${reasonOf(error, wanted.command[0] ?? '')}`)
    return failedToLaunch
  }
}

/** Runs the command on all ranks; several meet at a port, which is chosen now, since a preparation takes long. */
async function untilRanksEnded(
  quarry: Quarry,
  ranks: readonly RankHandover[],
  wanted: Prepared,
): Promise<Step> {
  if (ranks.length === 1) return untilEnded(quarry, ranks.map(startOf(wanted)))
  const port = await freePort()
  const env = { ...wanted.env, MASTER_PORT: String(port) }
  return untilEnded(quarry, ranks.map(startOf({ ...wanted, env })), port)
}

/** How to start the command on a rank, with these variables and files besides its own. */
function startOf(wanted: Prepared): (rank: RankHandover) => Start {
  const { command, env, readable, mounts } = wanted
  const pathsOf = (isRead: boolean) =>
    mounts.filter(({ read_only }) => read_only === isRead).map(({ path }) => path)
  return ({ env: own, enclosure }) => {
    const around = enclosure && {
      ...enclosure,
      readable: [...enclosure.readable, ...readable, ...pathsOf(true)],
      writable: [...enclosure.writable, ...pathsOf(false)],
      mounts,
    }
    return files => startCommand({ ...files, command, env: { ...own, ...env } }, around)
  }
}

type Start = (files: Files) => Promise<Started>

/** Starts one program of the attempt on each of these ranks, carries out stops meanwhile, and waits until all have ended. */
async function untilEnded(
  quarry: Quarry,
  starts: readonly Start[],
  meetingPort: number | null = null,
): Promise<Step> {
  const outcomes = await Promise.allSettled(inCgroup(quarry, starts))
  const started = outcomes.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  quarry.sessions = started.map(({ pid }) => pid)
  for (const one of outcomes) if (one.status === 'rejected') throw one.reason
  // Not awaited: a full disk must not delay the handling of stops.
  const recorded = recordStart(quarry.sessions)
  const stops = followStops(paths, quarry)
  let wasTaken = false
  const taken = () => {
    wasTaken = true
    tell(`another process listens on port ${meetingPort}, where the ranks meet: they are ended`)
    stops.heed({ grace_s: 0, force: true })
  }
  const endWatch = meetingPort === null ? null : watchMeetingPort(meetingPort, quarry, taken)
  const step = await endOfRanks(started, quarry, stops, tell)
  endWatch?.()
  stops.end()
  await recorded
  return wasTaken ? failedToLaunch : step
}

/** Output goes straight to the files; all children are created in the control group before any has started. */
function inCgroup({ cgroup, owner }: Quarry, starts: readonly Start[]): Promise<Started>[] {
  const files = starts.map((_, rank) => ({ cwd: paths.work, ...openOutput(rank) }))
  // So that the command can open its own output again, as /dev/stdout.
  if (owner)
    for (const { stdout, stderr } of files)
      for (const file of [stdout, stderr]) fchownSync(file, owner.id, owner.id)
  if (cgroup) tryCgroup(() => enterCgroup(cgroup))
  try {
    // Not awaited in here: this process must not stay in the group that it may have to kill.
    return starts.map((start, rank) => start(files[rank] as Files))
  } finally {
    if (cgroup) tryCgroup(() => leaveCgroup(cgroup))
  }
}

/**
 * Kept open until this process ends, each a second time for this process alone: the run can then take no lease on its
 * output (fcntl(2)), which would keep us from cutting it.
 */
function openOutput(rank: number): { stdout: number; stderr: number } {
  const before = output.get(rank)
  if (before) return before
  const { stdout, stderr } = paths.rank(rank)
  const open = (file: string) => {
    openSync(file, 'a', 0o600)
    return openSync(file, 'a', 0o600)
  }
  const files = { stdout: open(stdout), stderr: open(stderr) }
  output.set(rank, files)
  return files
}

function tryCgroup(move: () => void): void {
  try {
    move()
  } catch (error) {
    complain(`control group not used: ${error instanceof Error ? error.message : error}`)
  }
}

async function recordStart(pids: readonly number[]): Promise<void> {
  startedAt ??= new Date().toISOString()
  // Even if already ended, the program is not reaped before the event loop turns and can be identified.
  const leaders = pids.map(pid => identify(pid) ?? { pid, start_ticks: '', boot_id: bootId() })
  const [leader, ...others] = leaders as [Identity, ...Identity[]]
  const started: StartedRecord = { leader, others, started_at: startedAt }
  await patiently(() => writeDurably(paths.started, started))
}

/** The disk may be full with files of this very run. */
async function record(exit: ExitRecord): Promise<void> {
  await patiently(async () => {
    try {
      await createDurably(paths.exit, exit)
    } catch (error) {
      rmSync(paths.spare, { force: true })
      throw error
    }
  })
  rmSync(paths.spare, { force: true })
}

/** Without it, the exit of a run that fills the disk is recorded once there is room. */
function keepSpare(): void {
  try {
    writeFileSync(paths.spare, randomBytes(spareBytes))
  } catch (error) {
    complain(`no spare room for the exit record: ${error}`)
  }
}

/**
 * Retries until there is room: neither a full disk nor one that is briefly missing may lose the record. A directory that
 * stays missing was removed, and the record is no longer needed: null.
 */
async function patiently<T>(write: () => Promise<T>): Promise<T | null> {
  const removedAt = performance.now() + removedAfterMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (isErrno(error, 'ENOENT') && performance.now() > removedAt) return null
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

/** Writes a line of ours to the run's own log. */
function tell(message: string, rank = 0): void {
  try {
    appendFileSync(openOutput(rank).stderr, `[forge] ${message}\n`)
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
