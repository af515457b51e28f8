import type { WaitingJob } from './job-commands.ts'
import { assignSlots } from './slots.ts'

export type Start = { run_id: string; gpu_indexes: number[] }
export type Wait = { run_id: string; reason: 'waiting_capacity' | 'behind_priority' }

/**
 * Proposes the jobs to start on these GPUs, in queue order; `command-api/jobs/reservation.ts` decides. No job
 * overtakes one that waits for GPUs, since a large job would otherwise never find enough free ones. A job that needs
 * more GPUs than exist (the node shrank after its admission) blocks nobody.
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
  for (const { run_id, gpus } of waiting) {
    if (gpus > capacity) {
      waits.push({ run_id, reason: 'waiting_capacity' })
      continue
    }
    const gpu_indexes = isBlocked ? null : assignSlots(capacity, taken, gpus)
    if (gpu_indexes) {
      taken.push(...gpu_indexes)
      starts.push({ run_id, gpu_indexes })
    } else {
      waits.push({ run_id, reason: isBlocked ? 'behind_priority' : 'waiting_capacity' })
      isBlocked = true
    }
  }
  return { starts, waits }
}
