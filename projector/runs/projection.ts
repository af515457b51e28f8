import { type Kysely, sql } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { MlflowEvent } from '../../events/mlflow.ts'
import type { RunEvent } from '../../events/runs.ts'
import { searchText } from '../../platform/search-text.ts'
import { cloneLabel, retryLabel } from '../../schemas/jobs/jobspec.ts'
import { noteTag } from '../../schemas/mlflow.ts'
import { insertRows, type NewRows, type Row } from '../new-rows.ts'
import type { Handlers } from '../projection.ts'
import type { RunState, RunTables } from './table.ts'

type Tx = Kysely<RunTables>
/** MLflow's clients write notes as a tag. */
type Tagged = Extract<MlflowEvent, { type: 'mlflow.tags_set' | 'mlflow.tag_deleted' }>
type Told = RunEvent | JobEvent | Tagged
type Of<T extends Told['type']> = Recorded<Extract<Told, { type: T }>>

/** Every run, with or without a job; job states are mapped to the fewer run states. */
export const runProjection: Handlers<RunTables, Told> = {
  'run.created': (tx, event) => insertRows(tx, 'runs', [newExternalRun(event)]),
  'run.started': (tx, event) => start(tx, event),
  'run.succeeded': (tx, event) => end(tx, event, 'succeeded', { exit_code: event.data.exit_code }),
  'run.failed': (tx, event) => {
    const { exit_code, message } = event.data
    return end(tx, event, 'failed', { end_reason: 'reported', exit_code, message })
  },
  'run.silent': (tx, { data: { run_id, silent_since } }) => setSilent(tx, run_id, silent_since),
  'run.heard': (tx, { data: { run_id } }) => setSilent(tx, run_id, null),
  'run.abandoned': (tx, event) => end(tx, event, 'abandoned'),
  'run.stop_requested': unchanged,
  'run.stopped': (tx, event) => {
    const { exit_code, reason } = event.data
    return end(tx, event, 'stopped', { end_reason: 'user', exit_code, message: reason })
  },
  'run.token_issued': unchanged,
  'run.renamed': (tx, { data: { run_id, name } }) => describe(tx, run_id, { name }),
  'run.tagged': (tx, { data: { run_id, tags } }) => describe(tx, run_id, { tags }),
  'run.noted': (tx, { data: { run_id, notes } }) => mark(tx, run_id, { notes }),
  'run.marked': (tx, { data: { run_id, starred, archived } }) =>
    mark(tx, run_id, { starred, archived }),
  'run.deleted': (tx, { data: { run_id }, occurred_at }) => setDeleted(tx, run_id, occurred_at),
  'run.purge_postponed': (tx, { data: { run_id, references } }) =>
    tx.updateTable('runs').set({ kept_for: references }).where('run_id', '=', run_id).execute(),
  // Removed by purgedRuns, with the rows of other slices.
  'run.purged': unchanged,
  'run.restored': (tx, { data: { run_id } }) => setDeleted(tx, run_id, null),
  'job.admitted': (tx, event) => insertRows(tx, 'runs', [runOfJob(event)]),
  'job.held': unchanged,
  'job.queued': unchanged,
  'job.scheduled': unchanged,
  'job.checkpoint_chosen': unchanged,
  'job.placed': unchanged,
  'job.starting': unchanged,
  'job.running': (tx, event) => start(tx, event),
  'job.repriced': unchanged,
  'job.pause_requested': unchanged,
  'job.paused': (tx, event) => wait(tx, event),
  'job.resumed': unchanged,
  'job.preempted': (tx, event) => wait(tx, event),
  'job.retried': (tx, event) => wait(tx, event),
  'job.unreachable': unchanged,
  'job.recovered': unchanged,
  'job.stop_requested': unchanged,
  'job.exited': (tx, { data: { run_id, exit_code, signal } }) =>
    noteEnd(tx, run_id, { exit_code, signal }),
  'job.succeeded': (tx, event) => end(tx, event, 'succeeded', endOfJob(event)),
  'job.failed': (tx, event) => end(tx, event, 'failed', endOfJob(event)),
  'job.stopped': (tx, event) => end(tx, event, 'stopped', endOfJob(event)),
  'job.priority_changed': unchanged,
  'job.renamed': (tx, { data: { run_id, name } }) => describe(tx, run_id, { name }),
  'job.tagged': (tx, { data: { run_id, tags } }) => describe(tx, run_id, { tags }),
  'job.noted': (tx, { data: { run_id, notes } }) => mark(tx, run_id, { notes }),
  'job.marked': (tx, { data: { run_id, starred, archived } }) =>
    mark(tx, run_id, { starred, archived }),
  'mlflow.tags_set': async (tx, { data: { run_id, tags } }) => {
    const notes = tags[noteTag]
    if (notes !== undefined) await mark(tx, run_id, { notes })
  },
  'mlflow.tag_deleted': async (tx, { data: { run_id, key } }) => {
    if (key === noteTag) await mark(tx, run_id, { notes: '' })
  },
}

/** A run does not show why its job is waiting. */
export const newRuns: NewRows<Told> = {
  table: 'runs',
  begin(event) {
    if (event.type === 'job.admitted') return runOfJob(event)
    return event.type === 'run.created' ? newExternalRun(event) : null
  },
  fold: (row, { type }) => (type === 'job.queued' || type === 'job.held' ? row : null),
}

const newRun = {
  state: 'pending' as const,
  team: null,
  started_at: null,
  ended_at: null,
  silent_since: null,
  starred: false,
  archived: false,
  recipe_name: null,
  recipe_version: null,
  init_from: [],
  datasets: [],
  retry_of: null,
  clone_of: null,
  best_key: null,
  best_goal: null,
  deleted_at: null,
  kept_for: 0,
}

const newExternalRun = ({ data, occurred_at }: Of<'run.created'>): Row => ({
  ...newRun,
  ...data,
  source: 'external',
  created_at: occurred_at,
  search: searchText([data.name, data.short_id, data.run_id, ...data.tags]),
})

function runOfJob({ data, occurred_at }: Of<'job.admitted'>): Row {
  const { run_id, short_id, name, project, owner, team, tags, notes, recipe, resolved } = data
  const best = data.spec.spec.checkpoints.metric
  const { labels } = data.spec.metadata
  return {
    ...newRun,
    ...{ run_id, short_id, name, project, owner, team, tags, notes },
    source: 'job' as const,
    created_at: occurred_at,
    recipe_name: recipe.name,
    recipe_version: recipe.version,
    init_from: resolved.init_from ? [resolved.init_from.artifact_id] : [],
    datasets: resolved.datasets.map(dataset => dataset.ref),
    retry_of: labels[retryLabel] ?? null,
    clone_of: labels[cloneLabel] ?? null,
    best_key: best?.key ?? null,
    best_goal: best?.goal ?? null,
    search: searchText([data.name, data.short_id, data.run_id, ...data.tags]),
  }
}

const setDeleted = (tx: Tx, run_id: string, deleted_at: string | null) =>
  tx.updateTable('runs').set({ deleted_at, kept_for: 0 }).where('run_id', '=', run_id).execute()

const setSilent = (tx: Tx, run_id: string, silent_since: string | null) =>
  tx.updateTable('runs').set({ silent_since }).where('run_id', '=', run_id).execute()

type Marks = Partial<Pick<RunTables['runs'], 'notes' | 'starred' | 'archived'>>

const mark = (tx: Tx, run_id: string, marks: Marks) =>
  tx.updateTable('runs').set(marks).where('run_id', '=', run_id).execute()

async function unchanged(): Promise<void> {}

/** Sets a run's name and tags, and the text that `?q=` searches. */
async function describe(tx: Tx, run_id: string, words: { name?: string | null; tags?: string[] }) {
  const [run] = await tx
    .updateTable('runs')
    .set(words)
    .where('run_id', '=', run_id)
    .returning(['short_id', 'name', 'tags'])
    .execute()
  if (run)
    await tx
      .updateTable('runs')
      .set({ search: searchText([run.name, run.short_id, run_id, ...run.tags]) })
      .where('run_id', '=', run_id)
      .execute()
}

/** Keeps the first start: a run spans all attempts of its job. */
const start = (tx: Tx, { data, occurred_at }: Of<'run.started' | 'job.running'>) =>
  tx
    .updateTable('runs')
    .set({ state: 'running', started_at: sql`coalesce(started_at, ${occurred_at})` })
    .where('run_id', '=', data.run_id)
    .execute()

/** Another attempt may follow; how this one ended belongs to the attempt. */
async function wait(tx: Tx, { data }: Ended): Promise<void> {
  await tx.updateTable('runs').set({ state: 'pending' }).where('run_id', '=', data.run_id).execute()
  await tx.deleteFrom('run_ends').where('run_id', '=', data.run_id).execute()
}

/** A job may have ended before that was recorded. */
type Ended = Recorded<{ type: string; data: { run_id: string; ended_at?: string } }>
type End = Partial<Omit<RunTables['run_ends'], 'run_id'>>

async function end(
  tx: Tx,
  { data, occurred_at }: Ended,
  state: RunState,
  how: End = {},
): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ state, ended_at: data.ended_at ?? occurred_at, silent_since: null })
    .where('run_id', '=', data.run_id)
    .execute()
  await noteEnd(tx, data.run_id, how)
}

function endOfJob({ data }: Of<'job.succeeded' | 'job.failed' | 'job.stopped'>): End {
  const { reason, message, exit_code } = data
  // `job.exited` may have reported it already.
  return { end_reason: reason, message, ...(exit_code !== null && { exit_code }) }
}

const unknownEnd = { end_reason: null, exit_code: null, signal: null, message: null }

/** The code's own report and the end of its process arrive in either order; each adds its information. */
const noteEnd = (tx: Tx, run_id: string, how: End) =>
  tx
    .insertInto('run_ends')
    .values({ ...unknownEnd, run_id, ...how })
    .onConflict(on => on.column('run_id').doUpdateSet({ run_id, ...how }))
    .execute()
