import { isDeepStrictEqual } from 'node:util'
import type { Run, RunEvent } from '../../events/runs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { restorableDays } from '../../schemas/runs/restorable.ts'
import type { LifecycleReport, RunChange } from '../../schemas/runs/runs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

export const isEnded = (run: Run): boolean => run.ended_at !== null

export type RunReport = Pick<LifecycleReport, 'event' | 'run_id' | 'exit_code' | 'message'> & {
  reported_at: string
}

/** Applies a lifecycle report to an external run. After the end, a report appends no event. */
export function reportLifecycle(run: Run, report: RunReport): RunEvent[] {
  if (run.state === null) throw new Refusal('not_found', `No such run: ${report.run_id}`)
  if (isEnded(run)) return []
  const { run_id, reported_at } = report
  const exit_code = report.exit_code ?? null
  if (run.stop_requested && (report.event === 'succeeded' || report.event === 'failed'))
    return [{ type: 'run.stopped', data: { run_id, exit_code, reason: null } }]
  switch (report.event) {
    case 'starting':
      return []
    case 'running':
      return run.state === 'running' ? [] : [{ type: 'run.started', data: { run_id, reported_at } }]
    case 'succeeded':
      return [{ type: 'run.succeeded', data: { run_id, reported_at, exit_code } }]
    case 'failed':
      return [
        {
          type: 'run.failed',
          data: { run_id, reported_at, exit_code, message: report.message ?? null },
        },
      ]
  }
}

export type StopRequest = { run_id: string; reason: string | null; force: boolean }

/** Asks the code of an external run to end; with `force` the run ends now, regardless of its code. */
export function stopRun(run: Run, { run_id, reason, force }: StopRequest): RunEvent[] {
  if (run.state === null) throw new Refusal('not_found', `No such run: ${run_id}`)
  if (run.ended_at !== null)
    throw new Refusal('conflict', `Run already ended (${run.state} at ${run.ended_at})`)
  if (force) return [{ type: 'run.stopped', data: { run_id, exit_code: null, reason } }]
  return run.stop_requested ? [] : [{ type: 'run.stop_requested', data: { run_id, reason } }]
}

/** Describes an external run, during its life and afterwards. Idempotent; absent fields keep their values. */
export function changeRun(run: Run, run_id: string, change: RunChange): RunEvent[] {
  if (run.state === null) throw new Refusal('not_found', `No such run: ${run_id}`)
  const { name = run.name, tags = run.tags, notes = run.notes } = change
  const { starred = run.starred, archived = run.archived } = change
  const events: RunEvent[] = []
  if (name !== run.name) events.push({ type: 'run.renamed', data: { run_id, name } })
  if (!isDeepStrictEqual(tags, run.tags))
    events.push({ type: 'run.tagged', data: { run_id, tags: [...tags] } })
  if (notes !== run.notes) events.push({ type: 'run.noted', data: { run_id, notes } })
  if (starred !== run.starred || archived !== run.archived)
    events.push({ type: 'run.marked', data: { run_id, starred, archived } })
  return events
}

const restorableMs = restorableDays * 86_400_000

/** Hides a run that has ended. Idempotent. */
export function deleteRun(run: Run, run_id: string, nowMs: number): RunEvent[] {
  if (run.deleted_at !== null) return []
  const restorable_until = toTimestamp(new Date(nowMs + restorableMs))
  return [{ type: 'run.deleted', data: { run_id, restorable_until } }]
}

/** Restores a deleted run within its time. Idempotent. */
export function restoreRun(run: Run, run_id: string, nowMs: number): RunEvent[] {
  if (run.purged_at !== null)
    throw new Refusal('conflict', `Run was permanently deleted at ${run.purged_at}`, {
      code: 'run.purged',
    })
  if (run.restorable_until === null) return []
  if (Date.parse(run.restorable_until) < nowMs)
    throw new Refusal(
      'conflict',
      `Run was deleted at ${run.deleted_at}; it could be restored until ${run.restorable_until}`,
    )
  return [{ type: 'run.restored', data: { run_id } }]
}

/** The deletion to make final, and how many jobs, models and deployments refer to the run. */
export type Purge = { run_id: string; restorable_until: string; references: number }

/** Permanently removes a deleted run, unless it was restored or something refers to it. */
export function purgeRun(run: Run, { run_id, restorable_until, references }: Purge): RunEvent[] {
  if (run.purged_at !== null || run.restorable_until !== restorable_until) return []
  if (references === 0) {
    const source = run.state === null ? 'job' : 'external'
    return [{ type: 'run.purged', data: { run_id, source } }]
  }
  if (references === run.kept_for) return []
  return [{ type: 'run.purge_postponed', data: { run_id, references } }]
}

/** `since`: when a run was last heard from that is silent now; null once it reports. Idempotent. */
export function noteSilence(run: Run, run_id: string, since: Date | null): RunEvent[] {
  if (run.state === null || isEnded(run)) return []
  if (since === null)
    return run.silent_since === null ? [] : [{ type: 'run.heard', data: { run_id } }]
  if (run.silent_since !== null) return []
  return [{ type: 'run.silent', data: { run_id, silent_since: toTimestamp(since) } }]
}

/** Abandons a run that reported nothing for a day; an ended run keeps its state. */
export function abandonRun(run: Run, run_id: string): RunEvent[] {
  return run.state === null || isEnded(run) ? [] : [{ type: 'run.abandoned', data: { run_id } }]
}
