import { readJson } from '../attempts/durable-json.ts'
import { isAlive } from '../attempts/process-identity.ts'
import type { Launch } from '../port.ts'
import type { JobClaim, SlurmPaths, SubmitRecord } from './attempt-files.ts'
import type { SlurmJob } from './dialect.ts'

/** The first turn that was not given up for another submit, with the job that has it. */
export async function currentTurn(
  paths: SlurmPaths,
): Promise<{ number: number; claim: JobClaim | null }> {
  for (let number = 1; ; number++) {
    const claim = await readJson<Partial<JobClaim>>(paths.claim(number))
    if (claim?.given_up !== 'interrupted')
      return {
        number,
        claim: claim && { job: claim.job ?? null, given_up: claim.given_up ?? null },
      }
  }
}

/** How the job of an attempt is found again, if the response to its submit was lost. */
export const jobName = ({ run_id, attempt }: Pick<Launch, 'run_id' | 'attempt'>): string =>
  `forge-${run_id}-${attempt}`

export const jobComment = (turn: number, token: number): string => `${turnIn(turn)}token=${token}`

export const isOfTurn = ({ comment }: { comment: string }, turn: number): boolean =>
  comment.startsWith(turnIn(turn))

const turnIn = (turn: number) => `turn=${turn} `

/** How many jobs of an attempt may end before anything ran. */
const mostTurns = 5

/**
 * Whether another job must follow the job of a turn that ran nothing and never will. Slurm forgets what a killed
 * controller had not saved, gives the same number to another job, and cancels that one when it reaches a node that knows the first. A job
 * that a user cancels while it waits has no nodes.
 */
export function isRepeated(job: Pick<SlurmJob, 'states' | 'placed'> | null, turn: number): boolean {
  if (turn >= mostTurns) return false
  if (job === null) return true
  return job.placed && job.states.some(state => takenBack.has(state))
}

const takenBack = new Set(['CANCELLED', 'NODE_FAIL', 'BOOT_FAIL'])

/** A submit by another living server that takes longer has failed. */
const unclaimedMs = 90_000

/** Whether the submitting process has gone or given up, so that this submit starts nothing more. */
export function isCutShort({ submitter, submitted_at }: SubmitRecord, nowMs: number): boolean {
  if (nowMs - Date.parse(submitted_at) > unclaimedMs || submitter === null) return true
  return submitter.pid === process.pid || !isAlive(submitter)
}
