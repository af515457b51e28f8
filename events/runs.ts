import { Type } from 'typebox'
import { nullable, timestamp } from '../schemas/shared.ts'
import { type EventOf, event } from './event.ts'

const runId = () => Type.String()

/** A run without a job exists: code somewhere else may report into it. */
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
)

/** The code of an external run reported `running`; `reported_at` is its own clock. */
export const runStarted = event(
  'run.started',
  Type.Object({ run_id: runId(), reported_at: timestamp() }),
)

export const runSucceeded = event(
  'run.succeeded',
  Type.Object({ run_id: runId(), reported_at: timestamp(), exit_code: nullable(Type.Integer()) }),
)

export const runFailed = event(
  'run.failed',
  Type.Object({
    run_id: runId(),
    reported_at: timestamp(),
    exit_code: nullable(Type.Integer()),
    message: nullable(Type.String()),
  }),
)

/** An external run was silent for 24 hours. */
export const runAbandoned = event('run.abandoned', Type.Object({ run_id: runId() }))

/** The owner of an external run took another ingest token for it; the ones before it ended. */
export const runTokenIssued = event('run.token_issued', Type.Object({ run_id: runId() }))

export const runEvents = [
  runCreated,
  runStarted,
  runSucceeded,
  runFailed,
  runAbandoned,
  runTokenIssued,
] as const
export type RunEvent = EventOf<(typeof runEvents)[number]>

/** The life of an external run. */
export const runStream = (runId: string) => `run-${runId}`
