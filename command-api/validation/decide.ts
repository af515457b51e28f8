import type { Round, RoundCompleted, ValidationEvent } from '../../events/validation.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Most validation rounds of a run. */
export const maxRounds = 100_000

type Chunk = { step: number; total_chunks: number }

/** Every chunk of a round names the same number of chunks; otherwise nobody would know when all have arrived. */
export function refuseOtherTotal({ step, total_chunks }: Chunk, known: number): void {
  if (total_chunks === known) return
  throw new Refusal(
    'conflict',
    `The validation round at step ${step} has total_chunks ${known}, this chunk says ${total_chunks}; send the round in ${known} as before, or at another step`,
    { code: 'validation.other_total', data: { step, total_chunks: known } },
  )
}

export const tooManyRounds = () =>
  new Refusal('conflict', `The run has already ${maxRounds} validation rounds, the maximum`, {
    code: 'validation.too_many_rounds',
  })

/** Idempotent: a chunk that is sent again after the end of its round appends no event. */
export const completeRound = (round: Round, data: RoundCompleted): ValidationEvent[] =>
  round.isComplete ? [] : [{ type: 'validation.round_completed', data }]
