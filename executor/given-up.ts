import type { Logger } from 'pino'
import { forEachApart } from '../platform/each.ts'
import { ofRef, toRef } from './attempts/attempt-ref.ts'
import type { AttemptOfRun, JobCommands } from './job-commands.ts'
import { type Executor, UnknownAttempt } from './port.ts'

type Needed = {
  executor: Pick<Executor, 'unfinished' | 'stop' | 'observe'>
  commands: Pick<JobCommands, 'over'>
  logger: Logger
}

/**
 * Ends attempts that still run here although they were given up, e.g. because this machine was silent for too long: their GPUs
 * may be held by other jobs by now, and their own jobs may run elsewhere.
 */
export async function endGivenUp({ executor, commands, logger }: Needed): Promise<void> {
  const over = await commands.over((await executor.unfinished()).map(ofRef))
  const end = async ({ run_id, attempt }: AttemptOfRun) => {
    logger.warn({ run_id, attempt }, 'ending an attempt that was given up')
    const ref = toRef(run_id, attempt)
    try {
      await executor.stop(ref, { grace_s: 0, force: true })
      // If its supervisor has vanished, this ends its remaining processes.
      await executor.observe(ref)
    } catch (error) {
      // Its files were deleted meanwhile.
      if (!(error instanceof UnknownAttempt)) throw error
    }
  }
  const ended = await forEachApart(over, end, (error, { run_id }) =>
    logger.warn({ err: error, run_id }, 'an attempt that was given up could not be ended'),
  )
  if (ended < over.length) throw new Error(`${over.length - ended} of them could not be ended`)
}
