import path from 'node:path'
import { type AttemptPaths, attemptPaths, type StopRecord } from '../attempts/attempt-directory.ts'
import type { Identity } from '../attempts/process-identity.ts'

/**
 * The folder of one attempt on a folder that all nodes share, `<folder>/runs/<run_id>/<attempt>/`. Its content decides; Slurm is
 * asked where it says too little. Each rank has a folder of the form that a supervisor works in (`attempt-directory.ts`).
 *
 * | file             | written by          | says                                                       |
 * |------------------|---------------------|------------------------------------------------------------|
 * | launch.json      | submit              | what to run (no secret)                                     |
 * | submit-N.json    | submit              | from now on Slurm may have a job of turn N                  |
 * | job-N.json       | submit              | which job that is                                           |
 * | claim-N.json     | a job, once         | this job, and no other ever, runs the attempt               |
 * | handover-N.json  | submit              | in a rank's folder: its environment; gone once read, or at the end |
 * | node.json        | a rank              | in its folder: where it runs                                |
 * | interrupted.json | a rank              | in its folder: Slurm asked it to end, not we                |
 * | stop.json        | stop                | the attempt must end; again in the folders of its ranks     |
 * | exit.json        | this adapter, once  | final: how the attempt ended, from the exits of its ranks   |
 */
export type SlurmPaths = Pick<
  AttemptPaths,
  'directory' | 'launch' | 'claim' | 'stop' | 'exit' | 'work'
> & {
  control: string
  submit(turn: number): string
  job(turn: number): string
  /** The output of Slurm and of the job's own script. */
  log: string
  node(rank: number): NodePaths
}

export type NodePaths = AttemptPaths & {
  handover(turn: number): string
  node: string
  interrupted: string
}

export function slurmPaths(directory: string): SlurmPaths {
  const { launch, claim, stop, exit, work, control } = attemptPaths(directory)
  return {
    ...{ directory, launch, claim, stop, exit, work, control },
    submit: turn => path.join(directory, `submit-${turn}.json`),
    job: turn => path.join(directory, `job-${turn}.json`),
    log: path.join(directory, 'slurm.log'),
    node: rank => nodePaths(path.join(directory, `rank-${rank}`)),
  }
}

const nodePaths = (directory: string): NodePaths => ({
  ...attemptPaths(directory),
  handover: turn => path.join(directory, `handover-${turn}.json`),
  node: path.join(directory, 'node.json'),
  interrupted: path.join(directory, 'interrupted.json'),
})

export type SlurmLaunchRecord = {
  run_id: string
  attempt: number
  fencing_token: number
  nodes: number
  submitted_at: string
}

export type SubmitRecord = { submitted_at: string; submitter: Identity | null }

export type JobRecord = { job_id: number }

/** `job` is `<id>.<restarts>`, so that a job that Slurm restarted counts as another; null once no job may start. */
export type JobClaim = { job: string | null; given_up: 'stopped' | 'interrupted' | null }

export type NodeRecord = { node: string; gpu_indexes: number[] }

/** `kill_by`: by then its ranks have killed it themselves, if they can. */
export type SlurmStopRecord = StopRecord & { kill_by: string }

/** A process that Slurm ends cannot know of another moment at which it would be killed. */
export const untilSlurmKills: StopRecord = { grace_s: 86_400, force: false }

/** The grace for ranks of an attempt that has failed on another rank. */
export const afterFailure: StopRecord = { grace_s: 10, force: false }

/** For ranks that outlive their Slurm job. */
export const atOnce: StopRecord = { grace_s: 0, force: true }
