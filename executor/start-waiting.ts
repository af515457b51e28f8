import type { Logger } from 'pino'
import { forEachApart } from '../platform/each.ts'
import type { JobCommands } from './job-commands.ts'
import type { Executor } from './port.ts'
import { planStarts, type Start } from './queue.ts'

type StartDeps = {
  executor: Pick<Executor, 'capacity'>
  commands: JobCommands
  logger: Logger
}

/** Jobs that one pass starts; the next one follows at once. */
const startsAtOnce = 50

/** Gives the free GPUs to the jobs whose turn it is, and notes why the others wait. Returns whether something was started. */
export async function startWaiting({ commands, executor, logger }: StartDeps): Promise<boolean> {
  const closed = await commands.whyClosed()
  if (closed) {
    await commands.keepAllWaiting(closed)
    return false
  }
  const waiting = await commands.waiting()
  if (waiting.length === 0) return false
  const { gpus } = await executor.capacity()
  const { starts, waits } = planStarts(waiting, gpus, await commands.heldGpus())
  let scheduled = 0
  const start = async ({ run_id, gpu_indexes }: Start) => {
    const outcome = await commands.schedule(run_id, gpu_indexes)
    if (outcome === 'scheduled') scheduled++
    if (outcome === 'quota_in_use') await commands.keepWaiting([{ run_id, reason: outcome }])
  }
  await forEachApart(starts.slice(0, startsAtOnce), start, (error, { run_id }) =>
    logger.warn({ err: error, run_id }, 'this job could not be scheduled'),
  )
  const reasonOf = new Map(waiting.map(job => [job.run_id, job.reason]))
  await commands.keepWaiting(waits.filter(({ run_id, reason }) => reasonOf.get(run_id) !== reason))
  return scheduled > 0
}
