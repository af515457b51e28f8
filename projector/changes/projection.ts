import { type Kysely, sql } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { RunEvent } from '../../events/runs.ts'
import { insertRows, type Row } from '../new-rows.ts'
import type { DecisionProjection } from '../projection.ts'

type Told = JobEvent | RunEvent

/** The state that an event leads to, with the reason; null if the state stays the same, and nothing that lists show changes. */
type Entered = [state: string, reason?: string | null] | { edit: object } | null

const enteredBy: {
  [T in Told['type']]: (data: Extract<Told, { type: T }>['data']) => Entered
} = {
  'job.admitted': () => ['admitted'],
  'job.held': ({ reason }) => ['held', reason],
  'job.queued': ({ reason }) => ['queued', reason],
  'job.scheduled': () => ['scheduled'],
  'job.starting': ({ phase }) => ['starting', phase],
  'job.running': () => ['running'],
  'job.repriced': () => null,
  'job.checkpoint_chosen': () => null,
  'job.placed': () => null,
  'job.unreachable': () => null,
  'job.recovered': () => null,
  'job.priority_changed': () => null,
  'job.renamed': ({ name }) => ({ edit: { name } }),
  'job.tagged': ({ tags }) => ({ edit: { tags } }),
  'job.noted': () => ({ edit: {} }),
  'job.marked': ({ starred, archived }) => ({ edit: { starred, archived } }),
  'job.pause_requested': () => ['pausing'],
  'job.paused': () => ['paused'],
  'job.resumed': () => ['queued', 'resumed'],
  'job.preempted': () => ['queued', 'preempted'],
  'job.retried': ({ reason }) => ['queued', reason],
  'job.stop_requested': ({ reason }) => ['stopping', reason],
  // Releases GPUs; the state change has its own event.
  'job.exited': () => null,
  'job.succeeded': ({ reason }) => ['succeeded', reason],
  'job.failed': ({ reason }) => ['failed', reason],
  'job.stopped': ({ reason }) => ['stopped', reason],
  'run.created': () => ['pending'],
  'run.started': () => ['running'],
  'run.succeeded': () => ['succeeded'],
  'run.failed': () => ['failed'],
  'run.silent': ({ silent_since }) => ({ edit: { silent_since } }),
  'run.heard': () => ({ edit: { silent_since: null } }),
  'run.abandoned': () => ['abandoned'],
  'run.stop_requested': () => null,
  'run.stopped': () => ['stopped'],
  'run.token_issued': () => null,
  'run.renamed': ({ name }) => ({ edit: { name } }),
  'run.tagged': ({ tags }) => ({ edit: { tags } }),
  'run.noted': () => ({ edit: {} }),
  'run.marked': ({ starred, archived }) => ({ edit: { starred, archived } }),
  'run.deleted': () => null,
  'run.restored': () => null,
  'run.purge_postponed': () => null,
  'run.purged': () => null,
}

/** The state changes of jobs and external runs, and edits of what lists show. */
export const changesProjection: DecisionProjection = {
  types: Object.keys(enteredBy),
  apply: (tx, events) => addChanges(tx, events as readonly Recorded<Told>[]),
}

type Change = { project: string; owner: string; state: string; state_reason: string | null }

/**
 * Records each state unless the run is already in it for the same reason. Numbers come from a table instead of a
 * sequence: with one writer they follow the log and are identical after a replay. The newest number may belong to a
 * purged run, so it is stored separately: streams resume from these numbers.
 */
async function addChanges(tx: Kysely<unknown>, events: readonly Recorded<Told>[]): Promise<void> {
  const last = await lastChanges(tx, events)
  let change = await newestChange(tx)
  const rows: Row[] = []
  for (const event of events) {
    const { run_id } = event.data
    const before = last.get(run_id)
    const next = nextOf(enteredOf(event), before)
    if (next === null) continue
    const { state, state_reason } = next
    const { project = before?.project, owner = before?.owner } = event.data as Partial<Change>
    if (project === undefined || owner === undefined) throw new Error(`${run_id} has no beginning`)
    last.set(run_id, { project, owner, state, state_reason })
    rows.push({
      ...{ change: ++change, run_id, project, owner, ...next },
      from_state: before?.state ?? null,
      actor: event.actor.id,
      event_id: event.event_id,
      at: event.occurred_at,
    })
  }
  if (rows.length === 0) return
  await insertRows(tx, 'state_changes', rows)
  await sql`update last_change set change = ${change}`.execute(tx)
}

type Next = Pick<Change, 'state' | 'state_reason'> & { edit: object | null }

/** Null if there is nothing to show. */
function nextOf(entered: Entered, before: Change | undefined): Next | null {
  if (entered === null) return null
  if ('edit' in entered) return before ? { ...stateOf(before), ...entered } : null
  const [state, state_reason = null] = entered
  if (before?.state === state && before.state_reason === state_reason) return null
  return { state, state_reason, edit: null }
}

const stateOf = ({ state, state_reason }: Change) => ({ state, state_reason })

/** The table pairs each type with its data; TypeScript cannot follow a lookup by the event's own type. */
const enteredOf = ({ type, data }: Recorded<Told>): Entered =>
  (enteredBy[type] as (data: object) => Entered)(data)

/** The newest stored state of each run that does not begin in this batch. */
async function lastChanges(
  tx: Kysely<unknown>,
  events: readonly Recorded<Told>[],
): Promise<Map<string, Change>> {
  const run_ids = new Set(events.map(({ data }) => data.run_id))
  for (const { type, data } of events)
    if (type === 'job.admitted' || type === 'run.created') run_ids.delete(data.run_id)
  if (run_ids.size === 0) return new Map()
  const { rows } = await sql<Change & { run_id: string }>`
    select run.run_id, last.* from unnest(${[...run_ids]}::text[]) as run (run_id), lateral (
      select project, owner, state, state_reason from state_changes c
       where c.run_id = run.run_id order by change desc limit 1) as last`.execute(tx)
  return new Map(rows.map(({ run_id, ...change }) => [run_id, change]))
}

async function newestChange(tx: Kysely<unknown>): Promise<number> {
  const { rows } = await sql<{ change: number }>`
    select change from last_change`.execute(tx)
  return rows[0]?.change ?? 0
}
