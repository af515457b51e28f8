import type { Fact } from '../../events/fact.ts'
import { decodeValidation, type StoredSample } from '../../events/validation.ts'
import { fromJsonNumber, type JsonNumber } from '../../platform/series/json-number.ts'

/** One report of a chunk, as stored in the tables. */
export type Chunk = {
  run_id: string
  step: number
  chunk_index: number
  total_chunks: number
  log_offset: bigint
  avg_reward: number | null
  accuracy: number | null
  received_at: Date
  samples: Sample[]
}

export type Sample = Omit<StoredSample, 'reward' | 'env' | 'extra'> & {
  reward: number | null
  /** As JSON; null if nothing was reported. */
  env: string | null
  extra: string | null
  /** Approximate length of all texts. */
  bytes: number
}

/** Throws for a fact that is not about validation. */
export function toChunk(fact: Fact, log_offset: bigint): Chunk {
  if (fact.type !== 'validation.received')
    throw new Error(`${fact.type} does not belong among validation samples`)
  const { avg_reward, accuracy, samples, step, chunk_index, total_chunks } = decodeValidation(
    fact.body,
  )
  return {
    run_id: fact.run_id,
    step,
    chunk_index,
    total_chunks,
    log_offset,
    avg_reward: toNumber(avg_reward),
    accuracy: toNumber(accuracy),
    received_at: new Date(fact.received_at_ms),
    samples: samples.map(toSample),
  }
}

const toNumber = (value: JsonNumber | null) => (value === null ? null : fromJsonNumber(value))
const toJson = (value: unknown) => (value === null ? null : JSON.stringify(value))

function toSample({ reward, env, extra, ...texts }: StoredSample): Sample {
  const sample = { ...texts, reward: toNumber(reward), env: toJson(env), extra: toJson(extra) }
  const { user, assistant } = texts
  const bytes = [user, assistant, sample.env, sample.extra].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  )
  return { ...sample, bytes }
}

/** Over the finite rewards; the extremes are null if there are none. */
export function rewardsOf(samples: readonly Sample[]) {
  const finite = samples.flatMap(({ reward }) =>
    reward !== null && Number.isFinite(reward) ? reward : [],
  )
  const [first = null] = finite
  return {
    rewards: finite.length,
    // A sum beyond the largest double would not be finite.
    reward_sum: Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum(finite))),
    reward_min: first === null ? null : finite.reduce((a, b) => Math.min(a, b)),
    reward_max: first === null ? null : finite.reduce((a, b) => Math.max(a, b)),
  }
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
