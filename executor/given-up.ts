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
 * Ends what still runs here of attempts that were given up, as when this machine was not heard of for too long: their GPUs are
 * others' by now, and their jobs may run elsewhere.
 */
export async function endGivenUp({ executor, commands, logger }: Needed): Promise<void> {
  const over = await commands.over((await executor.unfinished()).map(ofRef))
  const end = async ({ run_id, attempt }: AttemptOfRun) => {
    logger.warn({ run_id, attempt }, 'an attempt that was given up is ended')
    const ref = toRef(run_id, attempt)
    try {
      await executor.stop(ref, { grace_s: 0, force: true })
      // Of one that has lost its supervisor, this ends the rest.
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
