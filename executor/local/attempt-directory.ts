import path from 'node:path'
import type { Cgroup } from './cgroup.ts'
import type { Identity } from './processes.ts'

/**
 * What is kept of one attempt, `<runs>/<run_id>/<attempt>/`. The files are the only memory: whoever finds the
 * directory, in whatever state a crash left it, can tell from them what is true.
 *
 * | file         | written by          | says                                                         |
 * |--------------|---------------------|--------------------------------------------------------------|
 * | launch.json  | submit              | what to run (no secret); there from the directory's first moment |
 * | claim-N.json | supervisor, once    | this supervisor, and no other ever, starts the command       |
 * | started.json | supervisor          | the command runs                                             |
 * | stop.json    | stop                | the supervisor is to end it                                  |
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
  /** Watched by the supervisor; apart, so that printing does not wake it. */
  control: string
  exit: string
  stdout: string
  stderr: string
  work: string
  tmp: string
  /** What the supervisor itself has to say, when it fails. */
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
  /** Unlike run and attempt alone, never the same in another installation or a restored copy of this one. */
  mark: string
  submitted_at: string
  /** The server that submitted it. */
  submitter: Identity
}

export type ClaimRecord = {
  /** Null when the server took the turn, so that nothing is started in it. */
  supervisor: Identity | null
  /** `stopped`: the attempt is over; `interrupted`: its submit was cut short and may be repeated. */
  given_up: 'stopped' | 'interrupted' | null
  cgroup: Cgroup | null
  /** Why there is no control group; then the process group and the mark have to do. */
  no_cgroup_reason: string | null
}

export type StartedRecord = { leader: Identity; started_at: string }

export type StopRecord = { grace_s: number; force: boolean }

export type ExitRecord = {
  started_at: string | null
  ended_at: string
  exit_code: number | null
  signal: string | null
  oom_killed: boolean
  launch_error: string | null
}

/** Goes to the supervisor through its standard input: secrets touch neither disk nor argv. */
export type Handover = { env: Record<string, string>; turn: number }
