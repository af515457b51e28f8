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
/** How often a pass tries further jobs after some could not start; most such failures are not the fault of the jobs. */
const triesAtOnce = 10

/**
 * Gives the free GPUs to the jobs whose turn it is, and records why the others wait. Returns whether something was started.
 * A job that cannot start, whatever is free, leaves its turn to the jobs behind it.
 */
export async function startWaiting(deps: StartDeps): Promise<boolean> {
  const { commands, executor } = deps
  if (!(await commands.isAnyQueued())) return false
  const closed = await commands.whyClosed()
  if (closed) {
    await commands.recordWaitReasonOfAll(closed)
    return false
  }
  let waiting = await commands.waiting()
  if (waiting.length === 0) return false
  const { gpus } = await executor.capacity()
  for (let tries = 1; ; tries++) {
    const { starts, waits } = planStarts(waiting, gpus, await commands.heldGpus())
    const { scheduled, unable } = await scheduleAll(deps, starts.slice(0, startsAtOnce))
    if (scheduled > 0 || unable.size === 0 || tries === triesAtOnce) {
      const reasonOf = new Map(waiting.map(job => [job.run_id, job.reason]))
      const changed = waits.filter(({ run_id, reason }) => reasonOf.get(run_id) !== reason)
      await commands.recordWaitReasons(changed)
      return scheduled > 0
    }
    waiting = waiting.filter(({ run_id }) => !unable.has(run_id))
  }
}

type Tried = { scheduled: number; unable: ReadonlySet<string> }

async function scheduleAll({ commands, logger }: StartDeps, starts: Start[]): Promise<Tried> {
  const unable = new Set<string>()
  let scheduled = 0
  const start = async ({ run_id, gpu_indexes }: Start) => {
    const outcome = await commands.schedule(run_id, gpu_indexes)
    if (outcome === 'scheduled') scheduled++
    const isHeld =
      outcome === 'quota_in_use' ||
      outcome === 'over_budget' ||
      outcome === 'team_pool_in_use' ||
      outcome === 'volume_in_use'
    if (isHeld) await commands.recordWaitReasons([{ run_id, reason: outcome }])
    if (isHeld || outcome === 'gone') unable.add(run_id)
  }
  await forEachApart(starts, start, (error, { run_id }) => {
    unable.add(run_id)
    logger.warn({ err: error, run_id }, 'this job could not be scheduled')
  })
  return { scheduled, unable }
}
