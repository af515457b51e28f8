import { type Kysely, sql, type Updateable } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import { type JobEvent, paramsOf } from '../../events/jobs.ts'
import { searchText } from '../../platform/search-text.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import { insertRows, type NewRows, type Row } from '../new-rows.ts'
import type { Handlers } from '../projection.ts'
import type { JobTables } from './table.ts'

type Tx = Kysely<JobTables>
type Jobs = Updateable<JobTables['jobs']>
type Of<T extends JobEvent['type']> = Recorded<Extract<JobEvent, { type: T }>>

const noControl = { action: 'none', reason: null, deadline: null }
/** Column values of a requeued job; the last attempt's data stays with the attempt. */
const requeued: Jobs = {
  phase: null,
  scheduled_at: null,
  executor_running_at: null,
  started_at: null,
  exit_code: null,
  control: JSON.stringify(noControl),
}

export const jobProjection: Handlers<JobTables, JobEvent> = {
  'job.admitted': (tx, event) => insertRows(tx, 'jobs', [newJob(event)]),
  'job.held': (tx, event) => {
    const { reason, until } = event.data
    const hold = JSON.stringify({ reason, until })
    return enter(tx, event, 'held', { state_reason: reason, hold })
  },
  'job.queued': (tx, event) =>
    enter(tx, event, 'queued', { state_reason: event.data.reason, hold: null }),
  'job.scheduled': async (tx, event) => {
    const { run_id, attempt, nodes } = event.data
    await tx
      .insertInto('job_attempts')
      .values({ ...newAttempt, run_id, attempt, nodes })
      .execute()
    await enter(tx, event, 'scheduled', { attempt, scheduled_at: event.occurred_at })
  },
  'job.checkpoint_chosen': (tx, { data }) => ofAttempt(tx, data, { resume_from: data.artifact_id }),
  'job.placed': (tx, { data }) =>
    ofAttempt(tx, data, { nodes: [...new Set(data.nodes.map(({ node }) => node))] }),
  'job.starting': (tx, event) => {
    const { phase, executor_running_at } = event.data
    return enter(tx, event, 'starting', { phase, executor_running_at })
  },
  'job.running': async (tx, event) => {
    const { started_at } = event.data
    await ofAttempt(tx, event.data, { started_at })
    await enter(tx, event, 'running', { started_at, phase: null })
  },
  'job.repriced': (tx, event) =>
    set(tx, event, { price_per_gpu_hour: event.data.price_per_gpu_hour }),
  'job.pause_requested': (tx, event) => {
    const { message, deadline } = event.data
    const control = JSON.stringify({ action: 'checkpoint_and_exit', reason: message, deadline })
    return enter(tx, event, 'pausing', { control })
  },
  'job.paused': async (tx, event) => {
    await endAttempt(tx, event.data, 'paused')
    await enter(tx, event, 'paused', { control: JSON.stringify(noControl) })
  },
  'job.resumed': (tx, event) =>
    enter(tx, event, 'queued', { ...requeued, state_reason: 'resumed' }),
  'job.preempted': async (tx, event) => {
    await endAttempt(tx, event.data, 'preempted')
    await enter(tx, event, 'queued', { ...requeued, state_reason: 'preempted' })
  },
  'job.retried': async (tx, event) => {
    const { reason } = event.data
    await endAttempt(tx, event.data, reason)
    await enter(tx, event, 'queued', { ...requeued, state_reason: reason })
  },
  'job.unreachable': (tx, event) => set(tx, event, { unreachable_since: event.data.silent_since }),
  'job.recovered': (tx, event) => set(tx, event, { unreachable_since: null }),
  'job.stop_requested': (tx, event) => {
    const { reason, message, deadline } = event.data
    const control = JSON.stringify({ action: 'exit', reason: message ?? reason, deadline })
    return enter(tx, event, 'stopping', { state_reason: reason, control })
  },
  'job.exited': exit,
  'job.succeeded': (tx, event) => end(tx, event, 'succeeded'),
  'job.failed': (tx, event) => end(tx, event, 'failed'),
  'job.stopped': (tx, event) => end(tx, event, 'stopped'),
  'job.priority_changed': (tx, event) => set(tx, event, { priority: event.data.priority }),
  'job.renamed': (tx, event) => describe(tx, event, { name: event.data.name }),
  'job.tagged': (tx, event) => describe(tx, event, { tags: event.data.tags }),
  // Only runs are marked.
  'job.noted': async () => {},
  'job.marked': async () => {},
}

const newAttempt = {
  resume_from: null,
  started_at: null,
  ended_at: null,
  end_reason: null,
  exit_code: null,
}

/** A job is queued or held with its admission, so that its row is stored once. */
export const newJobs: NewRows<JobEvent> = {
  table: 'jobs',
  begin: event => (event.type === 'job.admitted' ? newJob(event) : null),
  fold(row, { type, data, occurred_at }) {
    if (type === 'job.queued')
      return { ...waited(row, occurred_at), state: 'queued', state_reason: data.reason, hold: null }
    if (type !== 'job.held') return null
    const { reason, until } = data
    const hold = { reason, until }
    return { ...waited(row, occurred_at), state: 'held', state_reason: reason, hold }
  },
}

const waited = (row: Row, at: string): Row => ({
  ...row,
  queued_ms: Number(row.queued_ms) + Date.parse(at) - Date.parse(String(row.state_since)),
  state_since: at,
  updated_at: at,
})

function newJob({ data, occurred_at }: Of<'job.admitted'>): Row {
  const { gates, warnings, estimate, resolved, spec_digest, recipe, params_added, notes, ...job } =
    data
  return {
    ...job,
    state: 'admitted',
    state_reason: null,
    phase: null,
    recipe_name: recipe.name,
    recipe_version: recipe.version,
    attempt: 0,
    submitted_at: occurred_at,
    scheduled_at: null,
    executor_running_at: null,
    started_at: null,
    ended_at: null,
    state_since: occurred_at,
    queued_ms: 0,
    starting_ms: 0,
    running_ms: 0,
    exit_code: null,
    init_from: resolved.init_from?.artifact_id ?? null,
    updated_at: occurred_at,
    total_steps: totalSteps(paramsOf(data)),
    admission: { gates, warnings, estimate, resolved, spec_digest },
    hold: null,
    control: noControl,
    unreachable_since: null,
    search: searchText([data.name, data.short_id, data.run_id, ...data.tags]),
  }
}

/** Parameter names that recipes use for the length of a training. */
const stepNames = ['max_steps', 'total_steps', 'steps']

function totalSteps(params: Record<string, unknown>): number | null {
  for (const name of stepNames) {
    const steps = params[name]
    if (typeof steps === 'number' && Number.isSafeInteger(steps) && steps > 0) return steps
  }
  return null
}

/** Changes columns other than the state. */
const set = (tx: Tx, { data, occurred_at }: Recorded<JobEvent>, change: Jobs) =>
  tx
    .updateTable('jobs')
    .set({ ...change, updated_at: occurred_at })
    .where('run_id', '=', data.run_id)
    .execute()

/** Sets a job's name and tags, and the text that `?q=` searches. */
async function describe(
  tx: Tx,
  event: Of<'job.renamed' | 'job.tagged'>,
  words: Pick<Jobs, 'name' | 'tags'>,
): Promise<void> {
  await set(tx, event, words)
  const { run_id } = event.data
  const { name, short_id, tags } = await tx
    .selectFrom('jobs')
    .select(['name', 'short_id', 'tags'])
    .where('run_id', '=', run_id)
    .executeTakeFirstOrThrow()
  await set(tx, event, { search: searchText([name, short_id, run_id, ...tags]) })
}

/** Moves the job to a state and adds the time in the previous one to the total of its kind. */
function enter(
  tx: Tx,
  { data, occurred_at }: Recorded<JobEvent>,
  state: JobState,
  more: Jobs = {},
): Promise<unknown> {
  const spent = sql<number>`round(extract(epoch from ${occurred_at}::timestamptz - state_since) * 1000)`
  const during = (states: readonly JobState[]) =>
    sql<number>`case when state = any(${states}) then ${spent} else 0 end`
  return tx
    .updateTable('jobs')
    .set(eb => ({
      queued_ms: eb('queued_ms', '+', during(['admitted', 'held', 'queued'])),
      starting_ms: eb('starting_ms', '+', during(['scheduled', 'starting'])),
      running_ms: eb('running_ms', '+', during(['running', 'pausing', 'stopping'])),
      state,
      state_reason: null,
      state_since: occurred_at,
      updated_at: occurred_at,
      ...more,
    }))
    .where('run_id', '=', data.run_id)
    .execute()
}

type Attempt = { run_id: string; attempt: number }

const ofAttempt = (
  tx: Tx,
  { run_id, attempt }: Attempt,
  change: Updateable<JobTables['job_attempts']>,
) =>
  tx
    .updateTable('job_attempts')
    .set(change)
    .where('run_id', '=', run_id)
    .where('attempt', '=', attempt)
    .execute()

const endAttempt = (tx: Tx, attempt: Attempt, end_reason: string) =>
  ofAttempt(tx, attempt, { end_reason })

/** The attempt released its GPUs. The job's own report may have ended it earlier. */
async function exit(tx: Tx, { data, occurred_at }: Of<'job.exited'>): Promise<void> {
  const { run_id, attempt, exit_code, ended_at } = data
  await ofAttempt(tx, data, { exit_code, ended_at })
  await tx
    .updateTable('jobs')
    .set({
      exit_code: sql`case when attempt = ${attempt} then ${exit_code} else exit_code end`,
      unreachable_since: null,
      updated_at: occurred_at,
    })
    .where('run_id', '=', run_id)
    .execute()
}

async function end(
  tx: Tx,
  event: Of<'job.succeeded' | 'job.failed' | 'job.stopped'>,
  state: JobState,
): Promise<void> {
  const { reason, ended_at, exit_code } = event.data
  await endAttempt(tx, event.data, reason ?? state)
  await enter(tx, event, state, {
    state_reason: reason,
    ended_at,
    phase: null,
    hold: null,
    control: JSON.stringify(noControl),
    // `job.exited` may have set it before.
    ...(exit_code !== null && { exit_code }),
  })
}
