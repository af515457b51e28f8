import path from 'node:path'
import type { Exit } from '../../events/jobs.ts'
import type { Cgroup } from './cgroup.ts'
import type { Enclosure } from './enclosure.ts'
import type { Identity } from './processes.ts'

/**
 * The directory of one attempt, `<runs>/<run_id>/<attempt>/`. Its files are the only state: from any state that
 * a crash may leave, they tell what has happened.
 *
 * | file         | written by          | says                                                         |
 * |--------------|---------------------|--------------------------------------------------------------|
 * | launch.json  | submit              | what to run (no secret); there from the directory's first moment |
 * | claim-N.json | supervisor, once    | this supervisor, and no other ever, starts the command       |
 * | started.json | supervisor          | it runs: the preparation, or the command itself              |
 * | stop.json    | stop                | the supervisor is to end it                                  |
 * | reach.json   | supervisor          | how far the output may be read: the rest is cut off          |
 * | params.json  | preparation         | the parameters of a recipe's run, for the run to read         |
 * | exit.json    | supervisor, once    | final: nothing runs any more and the output is complete      |
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
  reach: string
  /** Watched by the supervisor; a separate directory, so that output does not wake it. */
  control: string
  exit: string
  stdout: string
  stderr: string
  work: string
  tmp: string
  /** The supervisor's own error output. */
  supervisorLog: string
}

export function attemptPaths(directory: string): AttemptPaths {
  const control = path.join(directory, 'control')
  return {
    directory,
    control,
    launch: path.join(directory, 'launch.json'),
    claim: turn => path.join(directory, `claim-${turn}.json`),
    started: path.join(directory, 'started.json'),
    reach: path.join(directory, 'reach.json'),
    stop: path.join(control, 'stop.json'),
    exit: path.join(directory, 'exit.json'),
    stdout: path.join(directory, 'stdout.log'),
    stderr: path.join(directory, 'stderr.log'),
    work: path.join(directory, 'work'),
    tmp: path.join(directory, 'tmp'),
    supervisorLog: path.join(directory, 'supervisor.log'),
  }
}

export type LaunchRecord = {
  run_id: string
  attempt: number
  fencing_token: number
  command: string[]
  /** Runs first, and says which command it is. */
  preparation: string[] | null
  /** Unique even across installations and restored copies, unlike run and attempt. */
  mark: string
  submitted_at: string
  /** The server process that submitted it. */
  submitter: Identity
}

export type ClaimRecord = {
  /** Null if the server took the turn, so that nothing is started in it. */
  supervisor: Identity | null
  /** `stopped`: the attempt is over; `interrupted`: its submit was interrupted and may be repeated. */
  given_up: 'stopped' | 'interrupted' | null
  cgroup: Cgroup | null
  /** Why there is no control group; processes are then found by process group and mark. */
  no_cgroup_reason: string | null
}

export type StartedRecord = { leader: Identity; started_at: string }

export type StopRecord = { grace_s: number; force: boolean }

export type ExitRecord = Exit & { started_at: string | null }

/** Sent to the supervisor on standard input, so that secrets reach neither disk nor argv. */
export type Handover = {
  env: Record<string, string>
  /** All that the preparation sees: none of a job's own variables. */
  preparation_env: Record<string, string>
  /** What the preparation reads from its standard input. */
  preparation_input: string
  /** Null: the command may do whatever the server may. */
  enclosure: Enclosure | null
  turn: number
}
