import { type Kysely, sql } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { RunEvent } from '../../events/runs.ts'
import type { Handlers } from '../projection.ts'
import type { ChangeTables } from './table.ts'

/** The state changes of jobs and external runs. */
export const changesProjection: Handlers<ChangeTables, JobEvent | RunEvent> = {
  'job.admitted': (tx, event) => enter(tx, event, 'admitted'),
  'job.held': (tx, event) => enter(tx, event, 'held', event.data.reason),
  'job.queued': (tx, event) => enter(tx, event, 'queued', event.data.reason),
  'job.scheduled': (tx, event) => enter(tx, event, 'scheduled'),
  'job.placed': async () => {},
  'job.starting': (tx, event) => enter(tx, event, 'starting', event.data.phase),
  'job.running': (tx, event) => enter(tx, event, 'running'),
  'job.repriced': async () => {},
  'job.checkpoint_chosen': async () => {},
  'job.unreachable': async () => {},
  'job.recovered': async () => {},
  'job.priority_changed': async () => {},
  'job.renamed': async () => {},
  'job.tagged': async () => {},
  'job.pause_requested': (tx, event) => enter(tx, event, 'pausing'),
  'job.paused': (tx, event) => enter(tx, event, 'paused'),
  'job.resumed': (tx, event) => enter(tx, event, 'queued', 'resumed'),
  'job.preempted': (tx, event) => enter(tx, event, 'queued', 'preempted'),
  'job.retried': (tx, event) => enter(tx, event, 'queued', event.data.reason),
  'job.stop_requested': (tx, event) => enter(tx, event, 'stopping', event.data.reason),
  // Releases GPUs; the state change has its own event.
  'job.exited': async () => {},
  'job.succeeded': (tx, event) => enter(tx, event, 'succeeded', event.data.reason),
  'job.failed': (tx, event) => enter(tx, event, 'failed', event.data.reason),
  'job.stopped': (tx, event) => enter(tx, event, 'stopped', event.data.reason),
  'run.created': (tx, event) => enter(tx, event, 'pending'),
  'run.started': (tx, event) => enter(tx, event, 'running'),
  'run.succeeded': (tx, event) => enter(tx, event, 'succeeded'),
  'run.failed': (tx, event) => enter(tx, event, 'failed'),
  'run.abandoned': (tx, event) => enter(tx, event, 'abandoned'),
  'run.stop_requested': async () => {},
  'run.stopped': (tx, event) => enter(tx, event, 'stopped'),
  'run.token_issued': async () => {},
}

type Told = Recorded<{ type: string; data: { run_id: string; project?: string; owner?: string } }>

/**
 * Records a state unless the run is already in it for the same reason. Numbers come from the table instead of a
 * sequence: with one writer they follow the log and are identical after a replay.
 */
const enter = (
  tx: Kysely<ChangeTables>,
  { data, occurred_at, actor, event_id }: Told,
  state: string,
  reason: string | null = null,
) =>
  sql`
    with last as (select project, owner, state, state_reason from state_changes
                   where run_id = ${data.run_id} order by change desc limit 1)
    insert into state_changes
      (change, run_id, project, owner, from_state, state, state_reason, actor, event_id, at)
    select (select coalesce(max(change), 0) + 1 from state_changes), ${data.run_id},
           coalesce(${data.project ?? null}, last.project), coalesce(${data.owner ?? null}, last.owner),
           last.state, ${state}, ${reason}, ${actor.id}, ${event_id}, ${occurred_at}
      from (select) as one left join last on true
     where (last.state, last.state_reason) is distinct from (${state}, ${reason})`.execute(tx)
