import { toMicro, unmetered, whenSpent } from '../../events/calculations/billing.ts'
import type { Job } from '../../events/job-state.ts'

/** Whether any process of the newest attempt may still run. */
export const isActive = (job: Job): boolean => job.attempt > 0 && job.exit === null

/** The first limit that an attempt will reach, with its time; null without limits. */
export function nextLimit(job: Job): { at: Date; message: string } | null {
  const { executor_running_at, started_at, max_duration_s } = job
  const began = started_at ?? executor_running_at
  const after = (from: string | null, seconds: number | null) =>
    from === null || seconds === null ? Number.POSITIVE_INFINITY : Date.parse(from) + seconds * 1000
  const duration = after(began, max_duration_s)
  const cost = whenTooDear(job)
  const at = Math.min(duration, cost)
  if (at === Number.POSITIVE_INFINITY) return null
  return {
    at: new Date(at),
    message:
      duration <= cost
        ? `max_duration_s (${max_duration_s}) is reached`
        : `max_cost (${job.max_cost}) is reached`,
  }
}

/** `max_cost` covers all attempts together, at the prices in force at the time. */
function whenTooDear({ gpus, rates, started_at, max_cost, spent_micro }: Job): number {
  if (started_at === null || max_cost === null) return Number.POSITIVE_INFINITY
  return whenSpent(
    { ...unmetered, gpus, rates },
    started_at,
    toMicro(max_cost) - BigInt(spent_micro),
  )
}
