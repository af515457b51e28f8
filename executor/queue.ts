import type { WaitingJob } from './job-commands.ts'
import { assignSlots } from './slots.ts'

export type Start = { run_id: string; gpu_indexes: number[] }
export type Wait = {
  run_id: string
  reason: 'waiting_capacity' | 'waiting_gang' | 'behind_priority'
}

/**
 * Proposes the jobs to start on these GPUs, in queue order; `command-api/jobs/reservation.ts` decides. No job
 * overtakes one that waits for GPUs, since a large job would otherwise never find enough free ones; a job without GPUs takes
 * none from it. A job that needs more GPUs than exist (the node shrank after its admission) blocks nobody.
 */
export function planStarts(
  waiting: readonly WaitingJob[],
  capacity: number,
  held: readonly number[],
): { starts: Start[]; waits: Wait[] } {
  const starts: Start[] = []
  const waits: Wait[] = []
  const taken = [...held]
  let isBlocked = false
  for (const job of waiting) {
    const { run_id, gpus } = job
    if (gpus > capacity) {
      waits.push({ run_id, reason: 'waiting_capacity' })
      continue
    }
    const gpu_indexes = isBlocked && gpus > 0 ? null : assignSlots(capacity, taken, gpus)
    if (gpu_indexes) {
      taken.push(...gpu_indexes)
      starts.push({ run_id, gpu_indexes })
    } else {
      waits.push({ run_id, reason: isBlocked ? 'behind_priority' : lackOf(job, capacity, taken) })
      isBlocked = true
    }
  }
  return { starts, waits }
}

/** Some of its nodes may have room, but all of them start together. */
function lackOf({ nodes, gpus }: WaitingJob, capacity: number, taken: readonly number[]) {
  const isGang = nodes > 1 && assignSlots(capacity, taken, gpus / nodes) !== null
  return isGang ? 'waiting_gang' : 'waiting_capacity'
}
