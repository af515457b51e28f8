import { type Static, Type } from 'typebox'
import type { JsonNumber } from '../platform/series/json-number.ts'
import { metricValue } from '../schemas/metrics/metrics.ts'
import { nullable } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { decodeJson, encodeJson } from './fact.ts'

/** A stored sample: texts are truncated to the limit, and missing fields are null. */
export type StoredSample = {
  /** The same for the same prompt at every step; null without a prompt. */
  sample_key: string | null
  user: string | null
  assistant: string | null
  env: unknown
  reward: JsonNumber | null
  extra: Readonly<Record<string, unknown>> | null
}

/**
 * The body of a `validation.received` fact: one chunk of a validation round. A chunk is identified by run, step and
 * `chunk_index`; a later one replaces it.
 */
export type ValidationReceived = {
  step: number
  chunk_index: number
  total_chunks: number
  avg_reward: JsonNumber | null
  accuracy: JsonNumber | null
  samples: readonly StoredSample[]
}

export const encodeValidation = (data: ValidationReceived): Buffer => encodeJson(data)
export const decodeValidation = (body: Buffer): ValidationReceived =>
  decodeJson(body) as ValidationReceived

/** Every chunk of a validation round has been stored. The scores are those reported with the chunk that completed it. */
export const roundCompleted = event(
  'validation.round_completed',
  Type.Object({
    run_id: Type.String(),
    step: Type.Integer(),
    total_chunks: Type.Integer({ minimum: 1 }),
    avg_reward: nullable(metricValue()),
    accuracy: nullable(metricValue()),
  }),
  ({ run_id, step, total_chunks }, who) =>
    `${who} completed the validation round of run ${run_id} at step ${step} (${total_chunks} ${total_chunks === 1 ? 'chunk' : 'chunks'})`,
)

export type ValidationEvent = EventOf<typeof roundCompleted>
export type RoundCompleted = Static<typeof roundCompleted.data>

/** Whether all chunks of the round were stored once. */
export type Round = { isComplete: boolean }

function evolve(_: Round, event: ValidationEvent): Round {
  switch (event.type) {
    case 'validation.round_completed':
      return { isComplete: true }
  }
}

export const validation = aggregate('validation', {
  events: [roundCompleted],
  initial: { isComplete: false },
  evolve,
})
/** The round of a run at a step. */
export const roundAt = (runId: string, step: number) => validation.at(`${runId}/${step}`)
