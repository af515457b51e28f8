import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { endStates } from '../../schemas/jobs/jobs.ts'
import { nothing } from '../effects/outcome.ts'
import { type Reactor, reactor } from '../effects/reactor.ts'

/** The files of runs that an engine keeps on its own machine. */
export type RunFiles = {
  /** Whether a path is inside what `forgetRun` deletes. */
  holds(run_id: string, path: string): Promise<boolean>
  /** Deletes the files of a run; false if there were none. Throws while an attempt is running. */
  forgetRun(run_id: string): Promise<boolean>
}

export type RunFilesDeps = { pool: Pool; files: RunFiles; logger: Logger }

export const runFiles = 'run-files'
const dayMs = 86_400_000

export const filesDueAt = (ended: Date, days: number): Date =>
  new Date(ended.getTime() + days * dayMs)

/** A job's end, and that of its last attempt, which may come later. */
const ends = ['job.succeeded', 'job.failed', 'job.stopped', 'job.exited'] as const

/** Deletes the files of a run some days after its end (0 days: never), and when it is purged. Performed on the engine's machine. */
export const runFilesReactor = (days: number): Reactor<RunFilesDeps> =>
  reactor<{ run_id: string }, RunFilesDeps>({
    name: runFiles,
    repeat: 'ask first',
    deadlineMs: 600_000,
    atOnce: 1,
    dutiesOf(event) {
      // No setting keeps the files of a permanently deleted run.
      if (event.type === 'run.purged')
        return event.data.source === 'job' ? [{ payload: { run_id: event.data.run_id } }] : []
      if (days === 0 || !ends.some(type => type === event.type)) return []
      const { run_id } = event.data as { run_id: string }
      return [{ payload: { run_id }, due_at: filesDueAt(new Date(event.occurred_at), days) }]
    },
    async perform({ payload: { run_id } }, { pool, files, logger }) {
      // The end of a job that has not ended yet will create its own duty.
      if (!(await hasEnded(pool, run_id))) return nothing
      const artifact = await heldArtifact(pool, files, run_id)
      if (artifact !== null)
        logger.info({ run_id, artifact }, 'the files of a run were kept: an artifact is among them')
      else if (await files.forgetRun(run_id))
        logger.info({ run_id, days }, 'the files of a run were deleted')
      return nothing
    },
  })

async function hasEnded(pool: Pool, run_id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select from write.job_state where run_id = $1 and state = any($2) and not is_active',
    [run_id, endStates],
  )
  return rowCount === 1
}

/** Whether an artifact, of this run or another, refers to the run's directory. */
async function heldArtifact(pool: Pool, files: RunFiles, run_id: string): Promise<string | null> {
  const { rows } = await pool.query<{ artifact_id: string; path: string }>(
    `select artifact_id, path from write.artifact
      where upload_id is null and deleted_at is null and (run_id = $1 or position('/' || $1 || '/' in path) > 0)`,
    [run_id],
  )
  for (const { artifact_id, path } of rows) if (await files.holds(run_id, path)) return artifact_id
  return null
}
