import { jobStates } from '../../../../../schemas/jobs/states.ts'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { RunChangeReply } from '../../../../../schemas/runs/runs.ts'

/** A `state` event of the stream; for a job, the state is that of the job. */
export type StateChange = { run_id: string; state: string; at: string }

const ended = ['succeeded', 'failed', 'stopped', 'abandoned'] as const
type Ended = (typeof ended)[number]

/** The state of a run given that of its job; null: it stays unchanged. */
function runStateOf(state: string): RunRow['state'] | null {
  if (state === 'running') return 'running'
  if (['pausing', 'stopping'].includes(state)) return null
  const end = ended.find(one => one === state)
  return end ?? 'pending'
}

/** The row after a change; the same object if the change is about another run, or changes nothing. */
export function afterChange(run: RunRow, { run_id, state, at }: StateChange): RunRow {
  if (run_id !== run.run_id) return run
  const next = runStateOf(state) ?? run.state
  const job_state = run.job_exists ? (jobStates.find(one => one === state) ?? null) : null
  if (next === run.state) return job_state === run.job_state ? run : { ...run, job_state }
  const isOver = ended.includes(next as Ended)
  return {
    ...run,
    state: next,
    job_state,
    started_at: run.started_at ?? (next === 'running' ? at : null),
    ended_at: isOver ? at : null,
    silent_since: null,
    duration_s: isOver && run.started_at !== null ? secondsFrom(run.started_at, at) : null,
  }
}

const secondsFrom = (from: string, to: string) =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))

/** An `edit` event of the stream, with what changed; notes are not part of it. */
export type Edit = Pick<RunRow, 'run_id'> &
  Partial<Pick<RunRow, 'name' | 'tags' | 'starred' | 'archived' | 'silent_since'>>

/** The row after an edit by anybody; the same object if it is another run. */
export function afterEditOf(run: RunRow, edit: Edit): RunRow {
  if (run.run_id !== edit.run_id) return run
  const { name = run.name, tags = run.tags, silent_since = run.silent_since } = edit
  const { starred = run.starred, archived = run.archived } = edit
  return { ...run, name, tags, starred, archived, silent_since }
}

/** The row as the server confirmed it; the same object if it is another run. */
export const afterEdit = (run: RunRow, edited: RunChangeReply): RunRow =>
  run.run_id === edited.run_id ? { ...run, ...edited } : run

/** The same list object if no row changed. */
export function rowsAfter(rows: RunRow[], after: (run: RunRow) => RunRow): RunRow[] {
  const next = rows.map(after)
  return next.every((run, nth) => run === rows[nth]) ? rows : next
}
