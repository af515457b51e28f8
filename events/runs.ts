import { Type } from 'typebox'
import { nullable, timestamp } from '../schemas/shared.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'
import { because, marksOf } from './words.ts'

const runId = () => Type.String()

/** A run without a job was created, for code that runs elsewhere. */
export const runCreated = event(
  'run.created',
  Type.Object({
    run_id: runId(),
    short_id: Type.String(),
    project: Type.String(),
    owner: Type.String(),
    name: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    notes: Type.String(),
  }),
  ({ short_id, project }, who) => `${who} created the run ${short_id} in project ${project}`,
)

/** The code of an external run reported `running`; `reported_at` is its own clock. */
export const runStarted = event(
  'run.started',
  Type.Object({ run_id: runId(), reported_at: timestamp() }),
  ({ run_id }, who) => `${who} reported that ${run_id} is running`,
)

export const runSucceeded = event(
  'run.succeeded',
  Type.Object({ run_id: runId(), reported_at: timestamp(), exit_code: nullable(Type.Integer()) }),
  ({ run_id }, who) => `${who} reported that ${run_id} succeeded`,
)

export const runFailed = event(
  'run.failed',
  Type.Object({
    run_id: runId(),
    reported_at: timestamp(),
    exit_code: nullable(Type.Integer()),
    message: nullable(Type.String()),
  }),
  ({ run_id, message }, who) => `${who} reported that ${run_id} failed${because(message)}`,
)

/** Nothing was heard of an external run for two minutes, and nothing is known of its process. */
export const runSilent = event(
  'run.silent',
  Type.Object({ run_id: runId(), silent_since: timestamp() }),
  ({ run_id, silent_since }, who) => `${who} has not heard from ${run_id} since ${silent_since}`,
)

/** A silent external run reported again. */
export const runHeard = event(
  'run.heard',
  Type.Object({ run_id: runId() }),
  ({ run_id }, who) => `${who} heard from ${run_id} again`,
)

/** An external run was silent for 24 hours. */
export const runAbandoned = event(
  'run.abandoned',
  Type.Object({ run_id: runId() }),
  ({ run_id }, who) => `${who} abandoned ${run_id} after a day of silence`,
)

/** The code of an external run was asked to end; only the code itself can. */
export const runStopRequested = event(
  'run.stop_requested',
  Type.Object({ run_id: runId(), reason: nullable(Type.String()) }),
  ({ run_id, reason }, who) => `${who} asked ${run_id} to stop${because(reason)}`,
)

/** An external run ended after it had been asked to, or was ended without waiting for its code (`exit_code` null). */
export const runStopped = event(
  'run.stopped',
  Type.Object({
    run_id: runId(),
    exit_code: nullable(Type.Integer()),
    reason: nullable(Type.String()),
  }),
  ({ run_id, reason }, who) => `${who} reported that ${run_id} stopped${because(reason)}`,
)

/** The owner of an external run got a new ingest token for it; earlier ones became invalid. */
export const runTokenIssued = event(
  'run.token_issued',
  Type.Object({ run_id: runId() }),
  ({ run_id }, who) => `${who} got a new ingest token for ${run_id}; earlier ones became invalid`,
)

/** The name of an external run; null removes it. Jobs have `job.renamed`. */
export const runRenamed = event(
  'run.renamed',
  Type.Object({ run_id: runId(), name: nullable(Type.String()) }),
  ({ run_id, name }, who) =>
    name === null ? `${who} removed the name of ${run_id}` : `${who} renamed ${run_id} to ${name}`,
)

/** Replaces all tags of an external run. */
export const runTagged = event(
  'run.tagged',
  Type.Object({ run_id: runId(), tags: Type.Array(Type.String()) }),
  ({ run_id, tags }, who) =>
    tags.length === 0
      ? `${who} removed all tags from ${run_id}`
      : `${who} tagged ${run_id}: ${tags.join(', ')}`,
)

export const runNoted = event(
  'run.noted',
  Type.Object({ run_id: runId(), notes: Type.String() }),
  ({ run_id }, who) => `${who} rewrote the notes on ${run_id}`,
)

/** Archived runs are out of the way in lists, but keep everything they have. */
export const runMarked = event(
  'run.marked',
  Type.Object({ run_id: runId(), starred: Type.Boolean(), archived: Type.Boolean() }),
  ({ run_id, ...marks }, who) => `${who} marked ${run_id} as ${marksOf(marks)}`,
)

/** Hidden from everybody; until `restorable_until` it can be brought back. Its reports and files stay. */
export const runDeleted = event(
  'run.deleted',
  Type.Object({ run_id: runId(), restorable_until: timestamp() }),
  ({ run_id, restorable_until }, who) =>
    `${who} deleted ${run_id}; it can be restored until ${restorable_until}`,
)

export const runRestored = event(
  'run.restored',
  Type.Object({ run_id: runId() }),
  ({ run_id }, who) => `${who} restored ${run_id}`,
)

/** It can no longer be restored, but something still refers to it; recorded again when that changes. */
export const runPurgePostponed = event(
  'run.purge_postponed',
  Type.Object({ run_id: runId(), references: Type.Integer({ minimum: 1 }) }),
  ({ run_id, references }, who) =>
    `${who} kept the deleted ${run_id}, to which ${referring(references)}`,
)

/**
 * Permanently removed: its rows, reports and files are deleted because of this. Only jobs have files on an engine.
 */
export const runPurged = event(
  'run.purged',
  Type.Object({
    run_id: runId(),
    source: Type.Union([Type.Literal('job'), Type.Literal('external')]),
  }),
  ({ run_id }, who) => `${who} permanently removed the deleted ${run_id}`,
)

const referring = (references: number) =>
  references === 1
    ? 'one job, model or deployment refers'
    : `${references} jobs, models or deployments refer`

const events = [
  runCreated,
  runStarted,
  runSucceeded,
  runFailed,
  runSilent,
  runHeard,
  runAbandoned,
  runStopRequested,
  runStopped,
  runTokenIssued,
  runRenamed,
  runTagged,
  runNoted,
  runMarked,
  runDeleted,
  runRestored,
  runPurgePostponed,
  runPurged,
] as const
export type RunEvent = EventOf<(typeof events)[number]>

export type RunState = 'pending' | 'running' | 'succeeded' | 'failed' | 'stopped' | 'abandoned'

/** `state` null: no such run, or a job's run, whose stream only records whether it is deleted. */
export type Run = {
  state: RunState | null
  name: string | null
  tags: readonly string[]
  notes: string
  starred: boolean
  archived: boolean
  started_at: string | null
  ended_at: string | null
  /** When it was last heard from, if it has been silent since. */
  silent_since: string | null
  stop_requested: boolean
  deleted_at: string | null
  /** Null unless it is deleted. */
  restorable_until: string | null
  /** How many jobs, models and deployments kept it from being purged when last checked; 0: none. */
  kept_for: number
  purged_at: string | null
}
const initial: Run = {
  state: null,
  name: null,
  tags: [],
  notes: '',
  starred: false,
  archived: false,
  started_at: null,
  ended_at: null,
  silent_since: null,
  stop_requested: false,
  deleted_at: null,
  restorable_until: null,
  kept_for: 0,
  purged_at: null,
}

function evolve(run: Run, event: Stamped<RunEvent>): Run {
  switch (event.type) {
    case 'run.created': {
      const { name, tags, notes } = event.data
      return { ...run, state: 'pending', name, tags, notes }
    }
    case 'run.started':
      return { ...run, state: 'running', started_at: event.occurred_at }
    case 'run.succeeded':
      return { ...run, state: 'succeeded', ended_at: event.occurred_at }
    case 'run.failed':
      return { ...run, state: 'failed', ended_at: event.occurred_at }
    case 'run.silent':
      return { ...run, silent_since: event.data.silent_since }
    case 'run.heard':
      return { ...run, silent_since: null }
    case 'run.abandoned':
      return { ...run, state: 'abandoned', ended_at: event.occurred_at }
    case 'run.stop_requested':
      return { ...run, stop_requested: true }
    case 'run.stopped':
      return { ...run, state: 'stopped', ended_at: event.occurred_at }
    case 'run.token_issued':
      return run
    case 'run.renamed':
      return { ...run, name: event.data.name }
    case 'run.tagged':
      return { ...run, tags: event.data.tags }
    case 'run.noted':
      return { ...run, notes: event.data.notes }
    case 'run.marked':
      return { ...run, starred: event.data.starred, archived: event.data.archived }
    case 'run.deleted':
      return {
        ...run,
        deleted_at: event.occurred_at,
        restorable_until: event.data.restorable_until,
        kept_for: 0,
      }
    case 'run.restored':
      return { ...run, deleted_at: null, restorable_until: null, kept_for: 0 }
    case 'run.purge_postponed':
      return { ...run, kept_for: event.data.references }
    case 'run.purged':
      return { ...run, purged_at: event.occurred_at }
  }
}

export const runs = aggregate('run', { events, initial, evolve })
/** The life of an external run. */
export const runAt = (runId: string) => runs.at(runId)
