import { createHash } from 'node:crypto'
import type { UnstampedFact } from '../../events/fact.ts'
import { encodeValidation, type StoredSample } from '../../events/validation.ts'
import type { SampleInput, ValidationInput } from '../../schemas/validation.ts'
import { cutText, cutValue } from './cut-text.ts'

/** A chunk with its defaults filled in. */
export type Chunk = ValidationInput & { chunk_index: number; total_chunks: number }

/** Encodes a validated chunk as a fact. */
export const recordValidation = (chunk: Chunk): UnstampedFact => ({
  type: 'validation.received',
  run_id: chunk.run_id,
  attempt: chunk.attempt ?? null,
  body: encodeValidation({
    step: chunk.step,
    chunk_index: chunk.chunk_index,
    total_chunks: chunk.total_chunks,
    avg_reward: chunk.avg_reward ?? null,
    accuracy: chunk.accuracy ?? null,
    samples: chunk.samples.map(toStored),
  }),
})

const toStored = ({
  user,
  assistant,
  env,
  reward,
  extra,
  sample_key,
}: SampleInput): StoredSample => ({
  sample_key: sample_key ?? (user == null ? null : promptKeyOf(user)),
  user: user == null ? null : cutText(user),
  assistant: assistant == null ? null : cutText(assistant),
  env: env === undefined ? null : cutValue(env),
  reward: reward ?? null,
  extra: extra == null ? null : cutExtra(extra),
})

/** The whole prompt counts, including any part cut off in storage. */
const promptKeyOf = (user: string) =>
  `p_${createHash('sha256').update(user).digest('hex').slice(0, 16)}`

function cutExtra(extra: Record<string, unknown>): Record<string, unknown> {
  const cut = cutValue(extra)
  return cut === extra ? extra : { cut }
}
