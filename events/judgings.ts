import { type Static, Type } from 'typebox'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

const judging_id = Type.String()

/** A deployment was asked to judge the samples of a validation round by a version of a rubric. */
export const judgingRequested = event(
  'judging.requested',
  Type.Object({
    judging_id,
    run_id: Type.String(),
    step: Type.Integer(),
    rubric_owner: Type.String(),
    rubric: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    deployment_id: Type.String(),
    revision_id: Type.String(),
    /** The name under which the engine serves its model. */
    model: Type.String(),
    /** At most this many samples. */
    limit: Type.Integer({ minimum: 1 }),
    username: Type.String(),
  }),
  ({ run_id, step, rubric_owner, rubric, version, revision_id: judge }, who) =>
    `${who} requested that ${judge} judge step ${step} of run ${run_id} by ${rubric_owner}/${rubric}, version ${version}`,
)

/** Every sample has a score or a fault, or the judging was given up. `cached`: scores that were known before. */
export const judgingEnded = event(
  'judging.ended',
  Type.Object({
    judging_id,
    state: oneOf('succeeded', 'failed'),
    scored: Type.Integer(),
    cached: Type.Integer(),
    failed: Type.Integer(),
    reason: nullable(Type.String()),
  }),
  ({ judging_id: id, scored, cached, failed, reason }, who) =>
    `${who} ended judging ${id} with ${count(scored, 'new score')}, ${cached} known and ${failed} failed${reason === null ? '' : `: ${reason}`}`,
)

/** A person cancelled it; the scores so far are kept. */
export const judgingCancelled = event(
  'judging.cancelled',
  Type.Object({ judging_id }),
  ({ judging_id: id }, who) => `${who} cancelled judging ${id}`,
)

const events = [judgingRequested, judgingEnded, judgingCancelled] as const
export type JudgingEvent = EventOf<(typeof events)[number]>
export type JudgingRequest = Static<typeof judgingRequested.data>

export type Judging = { isOpen: boolean } | null

export const judgings = aggregate('judging', {
  events,
  initial: null,
  evolve: (_: Judging, { type }: JudgingEvent): Judging => ({
    isOpen: type === 'judging.requested',
  }),
})
export const judgingAt = (id: string) => judgings.at(id)
