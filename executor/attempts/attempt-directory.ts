import path from 'node:path'
import type { Exit } from '../../events/jobs.ts'
import type { Enclosure } from './enclosure.ts'
import type { Identity } from './process-identity.ts'

/**
 * The directory of one attempt, `<runs>/<run_id>/<attempt>/`. Its files are the only state: from any state that
 * a crash may leave, they show the progress of the attempt.
 *
 * | file         | written by          | says                                                         |
 * |--------------|---------------------|--------------------------------------------------------------|
 * | launch.json  | submit              | what to run (no secret); there from the directory's first moment |
 * | claim-N.json | supervisor, once    | this supervisor, and no other ever, starts the command       |
 * | started.json | supervisor          | it runs: the preparation, or the command itself              |
 * | stop.json    | stop                | the supervisor must end it                                   |
 * | reach.json   | supervisor          | how far the output may be read: the rest is cut off          |
 * | params.json  | preparation         | the parameters of a recipe's run, for the run to read         |
 * | spare        | supervisor          | nothing: deleted if the disk has no room for `exit.json`       |
 * | exit.json    | supervisor, once    | final: nothing runs any more and the output is complete      |
 *
 * Each rank has its own output, reach and temporary files: for rank 1 `stdout-1.log`, `reach-1.json` and `tmp-1`.
 * The working folder is the attempt's.
 *
 * Claims (see `claims.ts`) and `exit.json` are created exclusively. The server writes them only in a supervisor's place:
 * the claim of an attempt nobody started, the exit of one whose supervisor died.
 */
export type AttemptPaths = {
  directory: string
  launch: string
  claim(turn: number): string
  started: string
  stop: string
  /** Watched by the supervisor; a separate directory, so that output does not wake it. */
  control: string
  exit: string
  /** Some room that the exit record may need on a full disk. */
  spare: string
  work: string
  rank(rank: number): RankPaths
  /** The supervisor's own error output. */
  supervisorLog: string
}

/** The files of one rank of an attempt. */
export type RankPaths = { stdout: string; stderr: string; reach: string; tmp: string }

export function attemptPaths(directory: string): AttemptPaths {
  const control = path.join(directory, 'control')
  return {
    directory,
    control,
    launch: path.join(directory, 'launch.json'),
    claim: turn => path.join(directory, `claim-${turn}.json`),
    started: path.join(directory, 'started.json'),
    stop: path.join(control, 'stop.json'),
    exit: path.join(directory, 'exit.json'),
    spare: path.join(directory, 'spare'),
    work: path.join(directory, 'work'),
    rank: rank => rankPaths(directory, rank === 0 ? '' : `-${rank}`),
    supervisorLog: path.join(directory, 'supervisor.log'),
  }
}

const rankPaths = (directory: string, of: string): RankPaths => ({
  stdout: path.join(directory, `stdout${of}.log`),
  stderr: path.join(directory, `stderr${of}.log`),
  reach: path.join(directory, `reach${of}.json`),
  tmp: path.join(directory, `tmp${of}`),
})

export type LaunchRecord = {
  run_id: string
  attempt: number
  fencing_token: number
  /** Absent in records from before attempts had several nodes. */
  nodes?: number
  gpu_indexes?: number[]
  command: string[]
  /** Runs first and decides the command. */
  preparation: string[] | null
  /** Unique even across installations and restored copies, unlike run and attempt. */
  mark: string
  submitted_at: string
  /** The server process that submitted it. */
  submitter: Identity
}

/**
 * A control group for one attempt. Unlike a process group or a session, no process can leave it. Recorded in
 * the claim, so that the server can use it after the supervisor died.
 */
export type Cgroup = {
  version: 1 | 2
  directory: string
  /** The supervisor's own group. */
  home: string
  /** Groups of the same processes that limit them, where version 1 has hierarchies for that; absent in older records. */
  further?: FurtherGroup[]
}

export type FurtherGroup = { directory: string; home: string }

export type ClaimRecord = {
  /** Null if the server took the turn, so that nothing is started in it. */
  supervisor: Identity | null
  /** `stopped`: the attempt is over; `interrupted`: its submit was interrupted and may be repeated. */
  given_up: 'stopped' | 'interrupted' | null
  cgroup: Cgroup | null
  /** Why there is no control group; processes are then found by process group and mark. */
  no_cgroup_reason: string | null
}

/** `leader` is rank 0; `others` are the further ranks, if there are any. */
export type StartedRecord = { leader: Identity; others?: Identity[]; started_at: string }

export type StopRecord = { grace_s: number; force: boolean }

export type ExitRecord = Exit & { started_at: string | null }

/** The disk space that one attempt may occupy, in bytes; null: as much as there is. */
export type DiskLimit = {
  limit_bytes: number | null
  /** To which it writes, each with its size. */
  volumes?: readonly WatchedVolume[]
}
export type WatchedVolume = { name: string; path: string; limit_bytes: number }

/** Sent to the supervisor on standard input, so that secrets reach neither disk nor argv. */
export type Handover = {
  /** By rank. */
  ranks: RankHandover[]
  /** The only variables that the preparation sees; none come from the job. */
  preparation_env: Record<string, string>
  /** The standard input of the preparation. */
  preparation_input: string
  /** Absent: no limit. */
  disk?: DiskLimit
  turn: number
}

export type RankHandover = {
  env: Record<string, string>
  /** Null: the command may do whatever the server may. */
  enclosure: Enclosure | null
}
