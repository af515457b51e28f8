import type { ValidationSample } from '../schemas/validation.ts'

export type RoundPage = {
  step: number
  /** How many samples the round has. */
  total: number
  /** Fewer than asked for, if they are long; none only at the end of the round. */
  samples: ValidationSample[]
}

/** A page of a round's samples, in the order in which they were sent; null if there is no such round. */
export type ReadRound = (asked: {
  run_id: string
  /** Null: the newest round. */
  step: number | null
  offset: number
  limit: number
}) => Promise<RoundPage | null>
